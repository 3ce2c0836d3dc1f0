/** Tools on sandboxes as such: create, list, show, suspend, snapshots, restore, and the components docked to them. */
import { z } from 'zod';
import type { Caller } from '../../auth/caller.ts';
import { WinterdockError } from '../../base/errors.ts';
import { componentCallSchema } from '../../contract/schema/component-calls.ts';
import { restoreSchema, snapshotsQuerySchema, takeSnapshotSchema } from '../../contract/schema/copies.ts';
import { createSchema, type Instance, instanceIdSchema, slugSchema, verbBodySchema } from '../../contract/schema.ts';
import type { WorkbookProgress } from '../../sandboxes/workbook-call.ts';
import { cutInMiddle, fitting, fittingPage, type McpTool, mcpTool, READ_HINTS } from './tool.ts';

export const sandboxId = instanceIdSchema.describe('The id of the sandbox.');
const tenant = slugSchema.optional().describe('The tenant. Leave it out when your key is of one tenant.');
const pageSize = z.int().min(1).max(100).default(20).describe('How many, at most.');
const cursor = z.string().max(1200).optional().describe('`next` of the page before.');

/** The tenant to act for: the named one, else the only one of the caller. Throws `validation`. */
function tenantOf(caller: Caller, named: string | undefined): string {
  const [only, ...others] = caller.tenants ?? [];
  if (named !== undefined) return named;
  if (only !== undefined && others.length === 0) return only;
  throw new WinterdockError('validation', 'This key is not for a single tenant: name the tenant.', {
    hint: 'Give `tenant`; winterdock_list_sandboxes shows tenants that there are.',
    extra: { errors: [{ path: 'tenant', message: 'is needed with this key' }] },
  });
}

/** The members of a sandbox that matter to who works in it. */
export function brief(instance: Instance): Record<string, unknown> {
  const { id, tenant: of, name, state, fault, fault_reason, policy, bytes, labels, workbook, updated } = instance;
  return {
    id,
    tenant: of,
    name,
    state,
    ...(fault === null ? {} : { fault, fault_reason }),
    policy,
    bytes,
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(workbook === null ? {} : { workbook }),
    updated,
  };
}

function progressWords(progress: WorkbookProgress): string {
  if ('running' in progress) return `${progress.running} is running`;
  return 'log' in progress ? progress.log.text : `${progress.component.path} ended`;
}

const { id: newId, name, ephemeral, policy, labels, workbook, idle_to_suspend_s } = createSchema.shape;

export const sandboxTools: readonly McpTool[] = [
  mcpTool({
    name: 'winterdock_create_sandbox',
    title: 'Create a sandbox',
    description:
      'Creates an empty sandbox: a shell, Python, JavaScript and SQLite over files of its own. The files in /workspace and /memory are kept for good; /tmp is emptied whenever it starts anew. It starts with the first command and files itself away when idle. Keep the `id` of the answer: every other tool needs it.',
    input: z.strictObject({
      tenant,
      id: newId.describe('Its id, in small letters, digits, - and _. By default one is made up. No id is given twice.'),
      name: name.describe('A name for people.'),
      policy: policy.describe(
        'posix (the default): shell, Python, JavaScript, no network. network: the same, and addresses that people have allowed. minimal: no Python. compute: no shell.',
      ),
      ephemeral,
      labels: labels.describe('Labels to find it by: texts by name.'),
      workbook,
      idle_to_suspend_s: idle_to_suspend_s.describe('Idle seconds after which it is suspended.'),
    }),
    operation: 'createInstance',
    hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    run: async ({ operations, caller }, input) => ({
      facts: brief(await operations.createInstance(caller, { ...input, tenant: tenantOf(caller, input.tenant) })),
    }),
  }),
  mcpTool({
    name: 'winterdock_list_sandboxes',
    title: 'List sandboxes',
    description: 'Lists sandboxes, those last used first. Wakes none.',
    input: z.strictObject({
      tenant,
      q: z.string().min(1).max(200).optional().describe('Text in the id, the name or a label.'),
      limit: pageSize,
      cursor,
    }),
    operation: 'listInstances',
    hints: READ_HINTS,
    async run({ operations, caller }, input) {
      const ask = (limit: number) => operations.listInstances(caller, { ...input, limit, sort: 'updated' });
      const { page, shown } = await fittingPage(input.limit, ask, brief);
      return { facts: { sandboxes: shown, total: page.total, next: page.next } };
    },
  }),
  mcpTool({
    name: 'winterdock_get_sandbox',
    title: 'Show a sandbox',
    description:
      'Shows the state of a sandbox: whether it is active, what is wrong with it, how large it is. Wakes nothing.',
    input: z.strictObject({ id: sandboxId }),
    operation: 'getInstance',
    hints: READ_HINTS,
    run: async ({ operations, caller }, { id }) => ({ facts: brief(await operations.getInstance(caller, id)) }),
  }),
  mcpTool({
    name: 'winterdock_list_attention',
    title: 'Attention',
    description: 'Lists what is wrong or comes near a wall.',
    input: z.strictObject({ tenant }),
    operation: 'attention',
    hints: READ_HINTS,
    async run({ operations, caller }, input) {
      const { items, cut } = fitting(await operations.attention(caller, input));
      return { facts: { attention: items, ...(cut === 0 ? {} : { cut }) } };
    },
  }),
  mcpTool({
    name: 'winterdock_suspend_sandbox',
    title: 'Suspend a sandbox',
    description:
      'Ends the process of a sandbox and keeps its files; the next command wakes it within milliseconds. What is in /tmp, and commands that run in the background, are lost. Not needed to save anything: every change is on the disk when it is answered.',
    input: z.strictObject({
      id: sandboxId,
      reason: verbBodySchema.shape.reason.describe('Why, for the people who read the ledger.'),
      force: verbBodySchema.shape.force.describe(
        'End commands that still run. Without it they are waited for, then it is refused.',
      ),
    }),
    operation: 'suspend',
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    run: async ({ operations, caller }, { id, ...input }) => ({
      facts: brief(await operations.suspend(caller, id, input)),
    }),
  }),
  mcpTool({
    name: 'winterdock_snapshot_sandbox',
    title: 'Take a snapshot',
    description:
      'Keeps what a sandbox holds now (/workspace and /memory, not /tmp) as a snapshot that outlives it. The sandbox keeps running. Take one before a risky change.',
    input: z.strictObject({ id: sandboxId, tag: takeSnapshotSchema.shape.tag.describe('A word to find it by.') }),
    operation: 'takeSnapshot',
    hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    async run({ operations, caller }, { id, ...input }) {
      const { actor: _actor, actor_name: _name, ...snapshot } = await operations.takeSnapshot(caller, id, input);
      return { facts: snapshot };
    },
  }),
  mcpTool({
    name: 'winterdock_list_snapshots',
    title: 'List snapshots',
    description: 'Lists snapshots, newest first.',
    input: z.strictObject({
      tenant,
      source: snapshotsQuerySchema.shape.source.describe('Only those of this sandbox.'),
      tag: snapshotsQuerySchema.shape.tag.describe('Only those with this tag.'),
      limit: pageSize,
      cursor,
    }),
    operation: 'listSnapshots',
    hints: READ_HINTS,
    async run({ operations, caller }, input) {
      const ask = (limit: number) => operations.listSnapshots(caller, { ...input, limit });
      const { page, shown } = await fittingPage(
        input.limit,
        ask,
        ({ id, tenant: of, tag, source, bytes, created }) => ({ id, tenant: of, tag, source, bytes, created }),
      );
      return { facts: { snapshots: shown, next: page.next } };
    },
  }),
  mcpTool({
    name: 'winterdock_restore_snapshot',
    title: 'Restore a snapshot',
    description:
      'Makes a new sandbox with the files of a snapshot. The sandbox that it was taken of stays as it is: go on with the `id` of the answer.',
    input: z.strictObject({
      snapshot: z.string().min(1).max(100).describe('The id of the snapshot.'),
      name: restoreSchema.shape.name.describe('A name for people.'),
      policy: restoreSchema.shape.policy.describe('As of winterdock_create_sandbox. Default: that of the sandbox.'),
    }),
    operation: 'restoreSnapshot',
    hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    async run({ operations, caller }, { snapshot, ...input }) {
      const [made] = await operations.restoreSnapshot(caller, snapshot, input);
      if (made === undefined) throw new Error('A restore made no sandbox.');
      return { facts: brief(made) };
    },
  }),
  mcpTool({
    name: 'winterdock_call_component',
    title: 'Call a component',
    description:
      'Calls a component of the workbook that the sandbox is docked to, with its inputs by name; without `component` it runs the whole workflow. A component that fails keeps nothing, and its `error` is in the answer.',
    input: z.strictObject({
      id: sandboxId,
      component: z.string().min(1).max(1024).optional().describe('Its name, or its path.'),
      input: componentCallSchema.shape.input,
      timeout_ms: componentCallSchema.shape.timeout_ms.describe('Milliseconds after which it is ended.'),
    }),
    operation: 'callComponent',
    hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    async run({ operations, caller, signal, progress }, { id, component, ...input }) {
      const options = { signal, onProgress: (made: WorkbookProgress) => progress(progressWords(made)) };
      const { logs, ...answer } =
        component === undefined
          ? await operations.callWorkflow(caller, id, input, options)
          : await operations.callComponent(caller, id, component, input, options);
      const kept = fitting(logs);
      const result = cutInMiddle(JSON.stringify(answer, null, 1));
      return {
        facts: {
          texts: ['result'],
          ...(result.cut === 0 ? {} : { result_characters_cut: result.cut }),
          logs: kept.items,
          ...(kept.cut === 0 ? {} : { logs_cut: kept.cut }),
        },
        texts: [result.text],
      };
    },
  }),
];
