/**
 * Commands that are one call each: what it is asked for, and its answer as it is. Those that do more have a file of
 * their own; words.test.ts compares all commands with the operations of the API.
 */
import type { Command } from 'commander';
import type { WinterdockClient } from '../../client/client.ts';
import type { State } from '../../lifecycle/state-map.ts';
import { parseSeconds, parseWholeNumber } from '../command.ts';
import { table } from '../format.ts';
import { addCall } from '../one-call.ts';
import { confirm } from '../prompt.ts';
import { readable } from '../readable.ts';
import { remotePathOf, wholePath } from '../remote-path.ts';

/** The group of commands of this name. */
function groupOf(program: Command, name: string): Command {
  const found = program.commands.find((command) => command.name() === name);
  if (found === undefined) throw new Error(`There is no group of commands "${name}".`);
  return found;
}

interface Thresholds {
  tenant?: string;
  hotToWarm?: number;
  idleToSuspend?: number;
  idleToFreeze?: number;
}

const idleOptions = (command: Command) =>
  command
    .option('--tenant <tenant>', 'for one tenant instead of all')
    .option('--idle-to-suspend <duration>', 'such as 15m', parseSeconds)
    .option('--idle-to-freeze <duration>', 'such as 24h', parseSeconds);

/** A parameter of SQL: a number as one, everything else as text. */
const parameterOf = (text: string) => (/^-?\d{1,15}(?:\.\d+)?$/.test(text) ? Number(text) : text);

function addSandboxCalls(program: Command): void {
  addCall<object, [string]>(program, 'prefetch <id>', {
    summary: 'bring a sandbox’s file near without starting its process',
    description: 'The next wake is quicker then. It is filed again when no call follows.',
    examples: [['prefetch sess-841', 'before somebody comes']],
    ask: (client, call, _options, id) => client.prefetchInstance(id, call),
    text: ({ source }: { source: string }, id) => `The file of ${id} is here, from ${source}.\n`,
  });

  addCall<{ run?: boolean; yes?: boolean; reason?: string; force?: boolean }, [string, State]>(
    program,
    'plan <id> <state>',
    {
      summary: 'show the hops that lead a sandbox to a state, and what is lost on the way',
      description: 'Changes nothing, unless --run is given: the server then walks the whole plan.',
      options: (command) =>
        command
          .option('--run', 'walk it, after a question')
          .option('--yes', 'with --run: without asking')
          .option('--reason <words>', 'with --run: why; it goes into the ledger')
          .option('--force', 'with --run: end running calls, or clear a fault and try once more'),
      examples: [
        ['plan sess-841 frozen', 'what that would take'],
        ['plan sess-841 archived --run --yes', 'walk it without asking, for scripts'],
      ],
      async ask(client, call, { run, yes, reason, force }, id, to) {
        if (run !== true) return client.getPlan(id, { to }, call);
        if (yes !== true) await confirm(`Make ${id} ${to}?`, call.signal ?? AbortSignal.any([]));
        return client.walkPlan(id, { to, reason, force }, call);
      },
    },
  );

  addCall<object, [string, string, string[]]>(program, 'query <id> <sql> [parameters...]', {
    summary: 'ask the files of a sandbox with SQL',
    description: 'The table is vfs (volume, path, content, mtime), and it can only be read. Wakes nothing.',
    examples: [
      ['query sess-841 "SELECT path, length(content) FROM vfs ORDER BY 2 DESC LIMIT 5"', 'the largest files'],
      ['query sess-841 "SELECT path FROM vfs WHERE volume = ?" memory', 'with a parameter'],
    ],
    ask: (client, call, _options, id, sql, given) =>
      client.queryFiles(id, { sql, params: given.map(parameterOf) }, {}, call),
    text: ({ columns, rows, truncated }: { columns: string[]; rows: unknown[][]; truncated?: boolean }) =>
      `${
        table(
          columns,
          rows.map((row) => row.map((cell) => (cell === null ? 'NULL' : String(cell)))),
        ) || 'No rows.\n'
      }${truncated === true ? 'There are more rows.\n' : ''}`,
  });

  addCall<{ within?: number }, [string]>(program, 'life <id>', {
    summary: 'show the life of a sandbox: how long it was in which state',
    options: (command) => command.option('--within <duration>', 'of the last 24h, 7d … (default: all)', parseSeconds),
    examples: [['life sess-841', 'from its creation to now, from the ledger']],
    ask: (client, call, { within }, id) =>
      client.instanceLife(id, within === undefined ? {} : { from: Math.floor(Date.now() / 1000) - within }, call),
    text: ({ hops, columns }: Awaited<ReturnType<WinterdockClient['instanceLife']>>) =>
      hops === null ? readable(columns) : readable(hops, 'It was in one state all the time.'),
  });

  addCall<object, [string]>(program, 'attach <id>', {
    summary: 'keep a sandbox in its state until Ctrl-C, as an open terminal does',
    description: 'No automatic move happens meanwhile; then the idle clock starts. Wakes nothing.',
    examples: [['attach sess-841', 'while you look at it']],
    async ask(client, call, _options, id) {
      const attachment = `cli-${crypto.randomUUID()}`;
      const signal = call.signal ?? AbortSignal.any([]);
      try {
        while (!signal.aborted) {
          const { lease_s } = await client.attachToInstance(id, attachment, call);
          await new Promise<void>((done) => {
            const timer = setTimeout(done, (lease_s * 1000) / 3);
            signal.addEventListener('abort', () => {
              clearTimeout(timer);
              done();
            });
          });
        }
      } finally {
        await client.detachFromInstance(id, attachment);
      }
      return { id, attached: false };
    },
    text: (_answer, id) => `${id} is as free to move as before.\n`,
  });
}

function addFolderCalls(files: Command): void {
  addCall<object, [string, string]>(files, 'mkdir <id> <path>', {
    summary: 'make a folder and its missing parents',
    examples: [['files mkdir sess-841 notes/spring', 'wakes it']],
    async ask(client, call, _options, id, path) {
      const { volume, path: folder } = remotePathOf(path);
      await client.makeFolder(id, volume, { path: folder }, call);
      return { path: wholePath(volume, folder) };
    },
    text: ({ path }: { path: string }) => `${path} is there.\n`,
  });

  addCall<{ recursive?: boolean }, [string, string]>(files, 'rmdir <id> <path>', {
    summary: 'delete a folder',
    options: (command) => command.option('-r, --recursive', 'with all that is in it'),
    examples: [
      ['files rmdir sess-841 notes', 'an empty one'],
      ['files rmdir -r sess-841 notes', 'and what is in it'],
    ],
    async ask(client, call, { recursive }, id, path) {
      const { volume, path: folder } = remotePathOf(path);
      await client.deleteFolder(id, volume, { path: folder, recursive: recursive === true ? 'true' : 'false' }, call);
      return { deleted: [wholePath(volume, folder)] };
    },
    text: ({ deleted }: { deleted: string[] }) => `${deleted[0]} is deleted.\n`,
  });
}

function addSettingsCalls(program: Command): void {
  const settings = groupOf(program, 'settings');
  addCall<Thresholds>(settings, 'preview', {
    summary: 'count what other thresholds would move within a minute',
    description: 'Changes nothing.',
    options: (command) => idleOptions(command).option('--hot-to-warm <duration>', 'such as 30s', parseSeconds),
    examples: [['settings preview --idle-to-suspend 5m', 'before `settings set`']],
    ask: (client, call, { tenant, hotToWarm, idleToSuspend, idleToFreeze }) =>
      client.previewThresholds(
        { tenant, hot_to_warm_s: hotToWarm, idle_to_suspend_s: idleToSuspend, idle_to_freeze_s: idleToFreeze },
        call,
      ),
  });
  addCall<Thresholds & { days?: number }>(settings, 'simulate', {
    summary: 'compute from the ledger what other thresholds would have meant',
    description: 'Process-hours, cold wakes and thaws of the last days, as they were and as they would have been.',
    options: (command) =>
      idleOptions(command).option('--days <count>', 'of so many days (default: 7)', parseWholeNumber),
    examples: [['settings simulate --idle-to-suspend 5m --days 30', 'of a month']],
    ask: (client, call, { tenant, idleToSuspend, idleToFreeze, days }) =>
      client.simulate({ tenant, idle_to_suspend_s: idleToSuspend, idle_to_freeze_s: idleToFreeze, days }, call),
  });
}

function addServerCalls(program: Command): void {
  addCall<{ days?: number }, []>(program, 'wakes', {
    summary: 'show how long wakes took, by where the file came from',
    options: (command) => command.option('--days <count>', 'of so many days (default: 30)', parseWholeNumber),
    examples: [['wakes --days 7', 'of a week']],
    ask: (client, call, { days }) => client.wakeTimes({ days }, call),
    text: (times: Awaited<ReturnType<WinterdockClient['wakeTimes']>>) =>
      readable(
        times.map(({ buckets: _buckets, ...rest }) => rest),
        'Nothing woke.',
      ),
  });
  const storage = program
    .command('storage')
    .summary('show and check the health of the store')
    .description('The registry, the ledger, the drawers, the disk, and the places for processes.');
  addCall<object, []>(storage, 'show', {
    summary: 'show how the store does',
    examples: [['storage show --json', 'for a monitor']],
    ask: (client, call) => client.storage(call),
  });
  addCall<object, ['registry' | 'drawers']>(storage, 'check <what>', {
    summary: 'check the registry’s structure, or measure the drawers',
    description: 'Answers after ten seconds at the latest; what is still running then goes on.',
    examples: [
      ['storage check registry', 'is it sound?'],
      ['storage check drawers', 'what lies where?'],
    ],
    ask: (client, call, _options, what) => client.checkStorage({ what }, call),
  });
  addCall<object, []>(program, 'health', {
    summary: 'ask whether the server lives and can do its work',
    description: 'Needs no key. Says which walls stand around the processes of sandboxes. Exits with 8 when it cannot.',
    isOpen: true,
    examples: [['health', 'for scripts that wait for a start']],
    async ask(client, call) {
      await client.health(call);
      return client.readiness(call);
    },
  });
  addCall<object, []>(program, 'metrics', {
    summary: 'print the metrics in the Prometheus text format',
    examples: [['metrics | grep wake', 'some of them']],
    ask: (client, call) => client.metrics(call),
    text: (metrics: string) => metrics,
  });
}

/** Adds the commands that are one call each. After the groups that some of them belong to. */
export function addOperationCommands(program: Command): void {
  addSandboxCalls(program);
  addFolderCalls(groupOf(program, 'files'));
  addSettingsCalls(program);
  addServerCalls(program);
  addCall<object, [string, string]>(groupOf(program, 'schedule'), 'show <sandbox> <schedule>', {
    summary: 'show a schedule, when it is next due and how it last went',
    examples: [['schedule show sess-841 sched-7', 'everything of it']],
    ask: (client, call, _options, sandbox, schedule) => client.getSchedule(sandbox, schedule, call),
  });
}
