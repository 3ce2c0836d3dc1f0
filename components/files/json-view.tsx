/** Foldable JSON without a script: every object and list is a disclosure. */
import type { JsonNode } from './json-tree.ts';

const OPEN_DEPTH = 2;
const COLOURS = { string: 'hljs-string', number: 'hljs-number', literal: 'hljs-literal' } as const;

function Key({ name }: { name: string | null }) {
  if (name === null) return null;
  return (
    <>
      <span className="hljs-attr">{name}</span>
      <span className="hljs-punctuation">: </span>
    </>
  );
}

function countOf(node: Extract<JsonNode, { kind: 'array' | 'object' }>): string {
  const count = node.members.length;
  if (node.kind === 'array') return `${count.toLocaleString('en')} ${count === 1 ? 'item' : 'items'}`;
  return `${count.toLocaleString('en')} ${count === 1 ? 'key' : 'keys'}`;
}

export function JsonView({ node, name = null, depth = 0 }: { node: JsonNode; name?: string | null; depth?: number }) {
  if (node.kind !== 'array' && node.kind !== 'object') {
    return (
      <div className="json-leaf">
        <Key name={name} />
        <span className={COLOURS[node.kind]}>{node.text}</span>
      </div>
    );
  }
  const [open, close] = node.kind === 'array' ? '[]' : '{}';
  if (node.members.length === 0) {
    return (
      <div className="json-leaf">
        <Key name={name} />
        <span className="hljs-punctuation">
          {open}
          {close}
        </span>
      </div>
    );
  }
  return (
    <details open={depth < OPEN_DEPTH} className="json-branch">
      <summary>
        <Key name={name} />
        <span className="hljs-punctuation">{open}</span>
        <span className="json-count">
          {' '}
          {countOf(node)} {close}
        </span>
      </summary>
      <div className="json-members">
        {node.members.map((member, index) => (
          // A file may have a key twice, and the order is fixed: the index is a valid key.
          <JsonView key={`${index}${member.key ?? ''}`} node={member.value} name={member.key} depth={depth + 1} />
        ))}
      </div>
      <span className="hljs-punctuation json-close">{close}</span>
    </details>
  );
}
