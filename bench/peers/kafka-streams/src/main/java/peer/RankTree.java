package peer;

import java.util.SplittableRandom;

/**
 * Order statistics: a treap whose nodes know the size of their subtree, so insert, remove and rank cost O(log n).
 * Order: higher score first, then the player who reached it earlier, then player id.
 */
final class RankTree {
    static final class Node {
        final String playerId;
        long score;
        long reachedAt;
        boolean scored;
        private final int priority;
        private int size = 1;
        private Node left, right;

        Node(String playerId, int priority) {
            this.playerId = playerId;
            this.priority = priority;
        }
    }

    private final SplittableRandom random = new SplittableRandom(42);
    private Node root, splitLeft, splitRight;

    Node node(String playerId) {
        return new Node(playerId, random.nextInt());
    }

    /** Puts the node in and returns its rank, 1-based. Its order fields must not change while it is in the tree. */
    int insert(Node node) {
        Node parent = null, at = root;
        int before = 0;
        boolean wentLeft = false;
        while (at != null && at.priority >= node.priority) {
            at.size++;
            parent = at;
            wentLeft = compare(node, at) < 0;
            if (wentLeft) {
                at = at.left;
            } else {
                before += size(at.left) + 1;
                at = at.right;
            }
        }
        split(at, node);
        node.left = splitLeft;
        node.right = splitRight;
        resize(node);
        replace(parent, wentLeft, node);
        return before + size(node.left) + 1;
    }

    /** Takes the node, which must be in the tree, out and returns the rank it had. */
    int remove(Node node) {
        Node parent = null, at = root;
        int before = 0;
        boolean wentLeft = false;
        while (at != node) {
            at.size--;
            parent = at;
            wentLeft = compare(node, at) < 0;
            if (wentLeft) {
                at = at.left;
            } else {
                before += size(at.left) + 1;
                at = at.right;
            }
        }
        int rank = before + size(node.left) + 1;
        replace(parent, wentLeft, merge(node.left, node.right));
        node.left = node.right = null;
        node.size = 1;
        return rank;
    }

    int rank(Node node) {
        int before = 0;
        for (Node at = root; at != node; ) {
            if (compare(node, at) < 0) {
                at = at.left;
            } else {
                before += size(at.left) + 1;
                at = at.right;
            }
        }
        return before + size(node.left) + 1;
    }

    static int compare(Node a, Node b) {
        if (a.score != b.score) return a.score > b.score ? -1 : 1;
        if (a.reachedAt != b.reachedAt) return a.reachedAt < b.reachedAt ? -1 : 1;
        return a.playerId.compareTo(b.playerId);
    }

    private void replace(Node parent, boolean left, Node child) {
        if (parent == null) root = child;
        else if (left) parent.left = child;
        else parent.right = child;
    }

    private void split(Node at, Node by) {
        if (at == null) {
            splitLeft = splitRight = null;
        } else if (compare(at, by) < 0) {
            split(at.right, by);
            at.right = splitLeft;
            resize(at);
            splitLeft = at;
        } else {
            split(at.left, by);
            at.left = splitRight;
            resize(at);
            splitRight = at;
        }
    }

    private static Node merge(Node a, Node b) {
        if (a == null) return b;
        if (b == null) return a;
        if (a.priority >= b.priority) {
            a.right = merge(a.right, b);
            resize(a);
            return a;
        }
        b.left = merge(a, b.left);
        resize(b);
        return b;
    }

    private static void resize(Node node) {
        node.size = size(node.left) + size(node.right) + 1;
    }

    private static int size(Node node) {
        return node == null ? 0 : node.size;
    }
}
