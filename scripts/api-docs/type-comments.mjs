// @ts-check
import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';

/**
 * The doc comments of the types in a folder, by `Name`, and of the fields of interfaces, by
 * `Name.field`; also of inherited ones.
 * @param {URL} folder ends in a slash @returns {Map<string, string>}
 */
export function typeComments(folder) {
  const files = readdirSync(folder).filter((file) => file.endsWith('.ts'));
  const statements = files.flatMap((file) => {
    const source = readFileSync(new URL(file, folder), 'utf8');
    return [...ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true).statements];
  });
  const types = statements.filter(ts.isInterfaceDeclaration);
  /** @type {Map<string, string>} */
  const comments = new Map();
  for (const node of statements.filter(ts.isTypeAliasDeclaration))
    comments.set(node.name.text, commentOf(node));
  for (const node of types) {
    const name = node.name.text;
    comments.set(name, commentOf(node));
    for (const member of withInherited(node, types))
      comments.set(`${name}.${member.name?.getText()}`, commentOf(member));
  }
  return comments;
}

/**
 * @param {ts.InterfaceDeclaration} node @param {readonly ts.InterfaceDeclaration[]} types @returns
 * {readonly ts.TypeElement[]}
 */
function withInherited(node, types) {
  const base = node.heritageClauses?.[0]?.types[0]?.expression.getText();
  const parent = types.find(({ name }) => name.text === base);
  return [...(parent ? withInherited(parent, types) : []), ...node.members];
}

/** The text of the doc comment, on one line. @param {ts.Node} node */
function commentOf(node) {
  const docs = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  return docs
    .map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? '')
    .join(' ')
    .replace(/\s+/g, ' ');
}
