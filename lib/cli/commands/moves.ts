/**
 * `resume`, `suspend`, `freeze`, `archive`, `revive`, `delete`. A plan of several hops is shown and confirmed first.
 */
import type { Command } from 'commander';
import { ApiError, type Instance, type WinterdockClient } from '../../client/client.ts';
import type { ResumeInput } from '../../contract/schema.ts';
import { isState, type State, VERB_TARGET, type Verb } from '../../lifecycle/state-map.ts';
import { policyChoice } from '../choice.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { CliError } from '../failure.ts';
import { millisecondsText } from '../format.ts';
import { confirm } from '../prompt.ts';

interface MoveOptions {
  reason?: string;
  force?: boolean;
  yes?: boolean;
  policy?: ResumeInput['policy'];
}

const moveOptions = (command: Command) =>
  command
    .option('--reason <words>', 'why; it goes into the ledger')
    .option('--force', 'end running calls, or clear a fault and try once more');

const planOptions = (command: Command) => moveOptions(command).option('--yes', 'run the whole plan without asking');

type Filing = Exclude<Verb, 'resume' | 'delete'>;

/** Shows the plan to a state with what it loses, asks for confirmation, then lets the server run it. */
async function runPlan(context: CommandContext, id: string, to: State, options: MoveOptions): Promise<void> {
  const { client, signal } = context;
  const { hops, from, losses, refusal } = await client.getPlan(id, { to }, { signal });
  if (hops.length === 0) throw new CliError('conflict', refusal ?? `No way leads from ${from} to ${to}.`);
  context.note(`${id}: ${[from, ...hops.map((hop) => hop.to)].join(' → ')}`);
  for (const { words } of losses) context.note(`Lost: ${words}`);
  if (options.yes !== true) {
    const steps = hops.length === 1 ? '' : ` in ${hops.length} steps`;
    const last = to === 'deleted' ? ' It is gone for good then, and its id is never used again.' : '';
    await confirm(`Make it ${to}${steps}?${last}`, signal);
  }
  await client.walkPlan(id, { to, reason: options.reason, force: options.force }, { signal });
  for (const hop of hops) context.note(`${hop.from} → ${hop.to}`);
}

function filingOf(client: WinterdockClient, verb: Filing) {
  return {
    suspend: client.suspendInstance,
    freeze: client.freezeInstance,
    archive: client.archiveInstance,
    revive: client.reviveInstance,
  }[verb];
}

/** Files a sandbox: by one call when the map has the hop, else by a plan. */
async function file(context: CommandContext, id: string, verb: Filing, options: MoveOptions): Promise<Instance> {
  const { client, signal } = context;
  try {
    return await filingOf(client, verb)(id, { reason: options.reason, force: options.force }, { signal });
  } catch (error) {
    const from = error instanceof ApiError && error.code === 'invalid_transition' ? error.problem?.from : null;
    // Revive is for archived sandboxes only: for any other state a plan is not what was meant.
    if (typeof from !== 'string' || !isState(from) || verb === 'revive') throw error;
    await runPlan(context, id, VERB_TARGET[verb], options);
    return client.getInstance(id, { signal });
  }
}

function addFiling(program: Command, verb: Filing, summary: string, description: string, example: string): void {
  addCommand<MoveOptions>(program, `${verb} <id>`, {
    summary,
    description,
    options: verb === 'revive' ? moveOptions : planOptions,
    examples: [[`${verb} sess-841${verb === 'archive' || verb === 'revive' ? ' --reason "ticket 512"' : ''}`, example]],
    async run(context, options, id: string) {
      const instance = await file(context, id, verb, options);
      context.print(instance, () => `${instance.id} is ${instance.state}.\n`);
    },
  });
}

export function addMoveCommands(program: Command): void {
  addCommand<MoveOptions & { fromStored?: boolean }>(program, 'resume <id>', {
    summary: 'wake a sandbox, from wherever it is filed',
    description: 'What sleeps is woken by `exec` and by writes as well; an archived one only by this, or by `revive`.',
    options: (command) =>
      moveOptions(command)
        .option('--from-stored', 'its file is lost or damaged: take the last one that is in the store; needs --reason')
        .addOption(policyChoice('run it under this policy from now on')),
    examples: [
      ['resume sess-841', 'and tell from where it came and how long that took'],
      ['resume sess-841 --force', 'although it is faulted: clear that and try once more'],
      [
        'resume sess-841 --from-stored --reason "disk lost"',
        'with its last file in the store; what came since is lost',
      ],
    ],
    async run({ client, print, signal }, { policy, force, reason, fromStored }, id: string) {
      const from = fromStored === true ? 'stored' : undefined;
      const answer = await client.resumeInstance(id, { policy, force, reason, from }, { signal });
      print(answer, () =>
        answer.path === 'warm'
          ? `${id} was active already.\n`
          : `${id} is active, from ${answer.source}, in ${millisecondsText(answer.took_ms)}.\n`,
      );
    },
  });
  addFiling(
    program,
    'suspend',
    'end a sandbox’s process and keep its file',
    'Running commands get a few seconds, then it is refused unless forced.',
    'from active; from elsewhere by a plan',
  );
  addFiling(
    program,
    'freeze',
    'file a sandbox into the cold drawer',
    'From active it is a plan: it is suspended first.',
    'from suspended; from elsewhere by a plan',
  );
  addFiling(
    program,
    'archive',
    'file a sandbox away until somebody revives it',
    'Commands and writes are refused from then on.',
    'from active or frozen; from elsewhere by a plan',
  );
  addFiling(
    program,
    'revive',
    'bring an archived sandbox back',
    'It is active then, with its workspace and memory.',
    'say why: the ledger keeps it',
  );

  addCommand(program, 'settle <id>', {
    summary: 'end an operation on a sandbox that was interrupted',
    description:
      'What has happened to its file decides whether it is finished or taken back. It is refused while the operation is still under way.',
    examples: [['settle sess-841', 'then try the operation again']],
    async run({ client, print, signal }, _options, id: string) {
      const instance = await client.settleInstance(id, { signal });
      print(instance, () => `${instance.id} is ${instance.state}, and nothing is under way.\n`);
    },
  });

  addCommand<MoveOptions>(program, 'delete <id>', {
    summary: 'delete a sandbox for good',
    description:
      'Only an archived one can be deleted; from elsewhere it is a plan, which is shown and asked about. Its row and its ledger stay, its id is never used again, its snapshots live on.',
    options: planOptions,
    examples: [
      ['delete sess-841', 'show the way and ask'],
      ['delete sess-841 --yes', 'without asking, for scripts'],
    ],
    async run(context, options, id: string) {
      await runPlan(context, id, 'deleted', options);
      context.print({ id, state: 'deleted' }, () => `${id} is deleted.\n`);
    },
  });
}
