/**
 * The example that an empty server offers: a tenant, a sandbox with files and a result, a snapshot. The button makes it
 * and the page shows it in curl, both from the same steps. Pure but for the calls.
 */
import type { Caller } from '#lib/auth/caller.ts';
import { createSchema, execSchema, takeSnapshotSchema } from '#lib/contract/schema.ts';
import type { Operations } from '#lib/operations/operations.ts';
import { parseVfsPath } from '#lib/vfs/paths.ts';

export const FIRST_TENANT = 'example';
export const FIRST_ID = 'first-steps';

const FILES: readonly { path: string; text: string }[] = [
  {
    path: 'README.md',
    text: `# First steps

Three orders, and a script that adds them up: \`sh totals.sh\`.
Leave this sandbox alone and it falls asleep; the next command wakes it, and every file is there.
`,
  },
  { path: 'orders.csv', text: 'customer,amount\nada,120\ngrace,80\nada,45\n' },
  {
    path: 'totals.sh',
    text: `awk -F, 'NR > 1 { sum[$1] += $2 } END { for (name in sum) print name, sum[name] }' orders.csv | sort\n`,
  },
];
const COMMAND = 'sh totals.sh | tee totals.txt';
const TAG = 'first totals';

function newSandbox(tenant: string) {
  return { id: FIRST_ID, tenant, name: 'First steps', labels: { customer: 'ada@example.com' } };
}

/** Makes it for a caller. Throws as the operations do, `conflict` when it is there already. */
export async function makeFirstExample(
  operations: Pick<Operations, 'createInstance' | 'exec' | 'putFile' | 'takeSnapshot'>,
  caller: Caller,
  tenant: string,
): Promise<void> {
  const { id } = await operations.createInstance(caller, createSchema.parse(newSandbox(tenant)));
  for (const { path, text } of FILES) {
    await operations.putFile(caller, id, 'workspace', parseVfsPath(`/${path}`), Buffer.from(text));
  }
  await operations.exec(caller, id, execSchema.parse({ command: COMMAND }));
  await operations.takeSnapshot(caller, id, takeSnapshotSchema.parse({ tag: TAG }));
}

/** A text as one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * The same for a shell, to be pasted. The key is that of the environment, or the admin's in the server's folder.
 * `origin`: where the server is reached.
 */
export function firstExampleInCurl(origin: string, tenant: string): string {
  const at = `/instances/${FIRST_ID}`;
  const files = FILES.map(
    ({ path, text }) => `dock ${at}/volumes/workspace/${path} -T - <<'EOF'\n${text.replace(/\n$/, '')}\nEOF`,
  );
  return [
    `WINTERDOCK_KEY=\${WINTERDOCK_KEY:-$(cat data/admin.key)}`,
    'dock() { local path=$1; shift',
    `  curl -fsS -H "Authorization: Bearer $WINTERDOCK_KEY" ${quoted(`${origin}/api`)}"$path" "$@"; echo; }`,
    `dock /instances -d ${quoted(JSON.stringify(newSandbox(tenant)))}`,
    ...files,
    `dock ${at}/exec -d ${quoted(JSON.stringify({ command: COMMAND }))}`,
    `dock ${at}/snapshots -d ${quoted(JSON.stringify({ tag: TAG }))}`,
    '',
  ].join('\n');
}
