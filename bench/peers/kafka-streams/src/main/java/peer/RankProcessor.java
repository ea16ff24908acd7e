package peer;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * The input is keyed by board, so this task sees every event of its boards. Emits the player's exact rank before and after each event. The boards live in memory; the store is written on each event and read only
 * when the task starts, to build them again.
 */
final class RankProcessor implements Processor<String, ScoreEvent, String, byte[]> {
    static final String STORE = "players";

    private static final class Board {
        final RankTree tree = new RankTree();
        final Map<String, RankTree.Node> players = new HashMap<>();
    }

    private final Output output = new Output();
    private final Map<String, Board> boards = new HashMap<>();
    private ProcessorContext<String, byte[]> context;
    private KeyValueStore<String, byte[]> store;

    @Override
    public void init(ProcessorContext<String, byte[]> context) {
        this.context = context;
        store = context.getStateStore(STORE);
        boards.clear(); // after an aborted transaction the task is closed and started again with this same object
        try (KeyValueIterator<String, byte[]> all = store.all()) {
            while (all.hasNext()) {
                KeyValue<String, byte[]> entry = all.next();
                int end = entry.key.indexOf('\0');
                Board board = boards.computeIfAbsent(entry.key.substring(0, end), name -> new Board());
                RankTree.Node node = board.tree.node(entry.key.substring(end + 1));
                ByteBuffer state = ByteBuffer.wrap(entry.value);
                node.score = state.getLong();
                node.reachedAt = state.getLong();
                node.scored = state.get() == 1;
                board.players.put(node.playerId, node);
                board.tree.insert(node);
            }
        }
    }

    @Override
    public void process(Record<String, ScoreEvent> record) {
        ScoreEvent event = record.value();
        Board board = boards.computeIfAbsent(event.board(), name -> new Board());
        RankTree.Node node = board.players.get(event.playerId());
        int previousRank = 0;
        int rank;
        if (node == null) {
            node = board.tree.node(event.playerId());
            board.players.put(node.playerId, node);
            node.score = event.delta();
            node.reachedAt = event.occurredAt();
            node.scored = event.delta() != 0;
            rank = board.tree.insert(node);
        } else {
            long reachedAt = reachedAt(node, event);
            if (event.delta() == 0 && reachedAt == node.reachedAt) {
                rank = previousRank = board.tree.rank(node);
            } else {
                previousRank = board.tree.remove(node);
                node.score += event.delta();
                node.reachedAt = reachedAt;
                node.scored |= event.delta() != 0;
                rank = board.tree.insert(node);
            }
        }
        store.put(event.board() + '\0' + node.playerId, state(node));
        context.forward(new Record<>(node.playerId, output.rank(event, node.score, rank, previousRank),
            record.timestamp(), record.headers()));
    }

    /** When the present total was reached: the latest time of the deltas that are not 0; while there are none, the earliest event. */
    private static long reachedAt(RankTree.Node node, ScoreEvent event) {
        if (event.delta() == 0) return node.scored ? node.reachedAt : Math.min(node.reachedAt, event.occurredAt());
        return node.scored ? Math.max(node.reachedAt, event.occurredAt()) : event.occurredAt();
    }

    private static byte[] state(RankTree.Node node) {
        return ByteBuffer.allocate(17).putLong(node.score).putLong(node.reachedAt).put((byte) (node.scored ? 1 : 0)).array();
    }
}
