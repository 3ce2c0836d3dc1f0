/**
 * JSON as a tree that is true to the file: order and duplicates of keys, every digit of a number, every escape. Pure.
 */

export type JsonNode =
  | { kind: 'string' | 'number' | 'literal'; text: string }
  | { kind: 'array'; members: { key: null; value: JsonNode }[] }
  | { kind: 'object'; members: { key: string; value: JsonNode }[] };

type Branch = Extract<JsonNode, { kind: 'array' | 'object' }>;

/** Larger trees are too much for a page. */
const MAX_NODES = 3000;
const MAX_DEPTH = 40;

const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\]]/g;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // It is not JSON: it is shown as text.
    return false;
  }
}

function leafOf(token: string): JsonNode {
  const kind = token.startsWith('"') ? 'string' : /^[-\d]/.test(token) ? 'number' : 'literal';
  return { kind, text: token };
}

/** The tree of a JSON text; null when it is not JSON, or too large or too deep for a page. */
export function jsonTree(text: string): JsonNode | null {
  if (!isJson(text)) return null;
  const above: Branch[] = [];
  let root: JsonNode | null = null;
  let key: string | null = null;
  let nodes = 0;
  for (const [token] of text.matchAll(TOKENS)) {
    const branch = above.at(-1);
    if (token === '}' || token === ']') {
      above.pop();
      continue;
    }
    if (branch?.kind === 'object' && key === null) {
      key = token;
      continue;
    }
    const node: JsonNode =
      token === '{' ? { kind: 'object', members: [] } : token === '[' ? { kind: 'array', members: [] } : leafOf(token);
    nodes += 1;
    if (nodes > MAX_NODES || above.length >= MAX_DEPTH) return null;
    if (branch === undefined) root = node;
    else if (branch.kind === 'object') branch.members.push({ key: key ?? '""', value: node });
    else branch.members.push({ key: null, value: node });
    key = null;
    if (node.kind === 'object' || node.kind === 'array') above.push(node);
  }
  return root;
}
