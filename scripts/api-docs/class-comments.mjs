// @ts-check
import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';

/**
 * The doc comments of the classes in a folder, by `Class`, and of their fields, by `Class.field`. Inherited fields count as fields.
 * @param {URL} folder ends in a slash @returns {Map<string, string>}
 */
export function classComments(folder) {
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts'));
  const classes = files.flatMap((file) => {
    const source = readFileSync(new URL(file, folder), 'utf8');
    const { statements } = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
    return statements.filter(ts.isClassDeclaration);
  });
  /** @type {Map<string, string>} */
  const comments = new Map();
  for (const node of classes) {
    const name = node.name?.text ?? '';
    comments.set(name, commentOf(node));
    for (const member of withInherited(node, classes))
      comments.set(`${name}.${member.name?.getText()}`, commentOf(member));
  }
  return comments;
}

/** @param {ts.ClassDeclaration} node @param {readonly ts.ClassDeclaration[]} classes @returns {readonly ts.ClassElement[]} */
function withInherited(node, classes) {
  const base = node.heritageClauses?.[0]?.types[0]?.expression.getText();
  const parent = classes.find(({ name }) => name?.text === base);
  return [...(parent ? withInherited(parent, classes) : []), ...node.members];
}

/** The text of the doc comment, on one line. @param {ts.Node} node */
function commentOf(node) {
  const docs = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  return docs
    .map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '')
    .join(' ')
    .replace(/\s+/g, ' ');
}
