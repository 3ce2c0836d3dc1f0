/** `lineage`: what came from what, as a tree. */
import type { Command } from 'commander';
import type { Lineage, LineageNode } from '../../contract/schema.ts';
import { choice } from '../choice.ts';
import { addCommand } from '../command.ts';
import { CliError } from '../failure.ts';
import { bytesText, printable } from '../format.ts';

function nodeText(node: LineageNode): string {
  const notes = [node.deleted ? 'deleted' : node.state, node.bytes === null ? null : bytesText(node.bytes)].filter(
    Boolean,
  );
  const label = node.label === null ? '' : ` ${printable(node.label)}`;
  return `${node.kind} ${node.id}${label}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`;
}

/** The tree as text: descendants are indented below their source. A node with two sources is shown below both. */
function treeText({ nodes, edges, truncated }: Lineage): string {
  const byKey = new Map(nodes.map((node) => [`${node.kind}:${node.id}`, node]));
  const lines: string[] = [];
  const write = (key: string, depth: number, above: readonly string[]) => {
    const node = byKey.get(key);
    if (node === undefined || above.includes(key)) return;
    lines.push(`${'  '.repeat(depth)}${nodeText(node)}\n`);
    for (const { from, to } of edges) if (from === key) write(to, depth + 1, [...above, key]);
  };
  const children = new Set(edges.map(({ to }) => to));
  for (const key of byKey.keys()) if (!children.has(key)) write(key, 0, []);
  if (truncated) lines.push('… and more\n');
  return lines.join('');
}

export function addLineageCommand(program: Command): void {
  addCommand<{ of: string }>(program, 'lineage <id>', {
    summary: 'show what came from what',
    options: (command) =>
      command.addOption(choice('--of <kind>', 'what the id is of', ['instance', 'snapshot', 'blueprint'], 'instance')),
    examples: [
      ['lineage sess-841', 'where it came from, and what came from it'],
      ['lineage --of blueprint python-base', 'every clone of it'],
    ],
    async run({ client, print, signal }, { of }, id: string) {
      const read = {
        instance: client.getInstanceLineage,
        snapshot: client.getSnapshotLineage,
        blueprint: client.getBlueprintLineage,
      };
      if (!Object.hasOwn(read, of)) throw new CliError('usage', '--of is instance, snapshot or blueprint.');
      const lineage = await read[of as keyof typeof read](id, { signal });
      print(lineage, () => treeText(lineage));
    },
  });
}
