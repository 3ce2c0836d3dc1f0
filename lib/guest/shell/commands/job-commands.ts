/**
 * The shell's commands for jobs: what begins one in place of `&`, and `wait`, `jobs` and `kill`. Asks the server
 * through the call; knows nothing of runs.
 */
import type { Command, CommandContext, ExecResult } from 'just-bash';
import { bytesOfText } from '../../../workers/protocol/byte-text.ts';
import {
  LARGE_JOB,
  NESTED_JOB,
  parseShellJobRequest,
  type ShellJobAnswer,
  type ShellJobRequest,
  type ShellJobStatus,
} from '../../../workers/protocol/shell-jobs.ts';
import { isStopSignal, type StopSignal } from '../../../workers/protocol/stop-signals.ts';
import { APART, LAST_JOB, REFUSE_COMMAND, START_COMMAND } from '../background-statements.ts';
import { defineCommand } from '../bash.ts';
import { currentPid, signalOneself } from '../shell-signals.ts';
import { JOB_PROCESS_COMMANDS, type JobProcesses } from './job-processes.ts';

/** What the commands need of the call that runs. */
export interface ShellJobCaller {
  /** What `&` put aside, by number. */
  readonly sources: readonly string[];
  /** The jobs that this script has begun, oldest first. */
  readonly own: number[];
  /** Those of them whose end it has been told. */
  readonly waited: Set<number>;
  /** The `%n` of each job that has one. */
  readonly numbers: Map<number, number>;
  /** Null when the call was stopped meanwhile. */
  ask(request: ShellJobRequest): Promise<ShellJobAnswer | null>;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Variables that a shell sets itself. */
const SHELLS_OWN = new Set([
  'BASHOPTS',
  'SHELLOPTS',
  'BASH_VERSION',
  'PWD',
  'OLDPWD',
  'OPTIND',
  'PPID',
  'UID',
  'EUID',
  '_',
]);
/** What `$$` is. */
const SHELL_PID = '1';
/** Signals that a job can be sent, by name or number. */
const KNOWN_SIGNAL = /^(?:0|(?:SIG)?(?:HUP|INT|QUIT|KILL|TERM)|1|2|3|9|15)$/i;
const INTERRUPTED = 130;
const NO_CHILD = 127;
const REFUSED = 2;
/** In place of the `%n` of a job that `disown` was given. */
const DISOWNED = 0;

const result = (stdout: string, stderr = '', exitCode = 0): ExecResult => ({ stdout, stderr, exitCode });

export function jobCommands(caller: () => ShellJobCaller): Command[] {
  return [
    defineCommand(START_COMMAND, (args, context) => start(caller(), args, context)),
    defineCommand(REFUSE_COMMAND, async () => result('', NESTED_JOB, REFUSED)),
    defineCommand('wait', (args) => wait(caller(), args)),
    defineCommand('jobs', (args) => list(caller(), args)),
    defineCommand('kill', (args) => kill(caller(), args)),
    defineCommand('disown', (args) => disown(caller(), args)),
    ...Object.entries(JOB_PROCESS_COMMANDS).map(([name, command]) =>
      defineCommand(name, (args) => command(processesOf(caller()), args)),
    ),
    ...['fg', 'bg'].map((name) => defineCommand(name, async () => result('', `bash: ${name}: no job control\n`, 1))),
  ];
}

/** Begins what `&` put aside under a number, behind the declarations of its arrays. */
async function start(
  caller: ShellJobCaller,
  [at, arrays = '']: string[],
  context: CommandContext,
): Promise<ExecResult> {
  const isApart = at?.endsWith(APART) === true;
  const command = caller.sources[Number.parseInt(at ?? '', 10)];
  if (command === undefined) return result('', `bash: ${START_COMMAND}: command not found\n`, NO_CHILD);
  const env: Record<string, string> = {};
  for (const [name, value] of context.env)
    if (NAME.test(name) && name !== LAST_JOB && !SHELLS_OWN.has(name)) env[name] = value;
  const source = arrays === '' ? command : `${arrays}\n${command}`;
  if (caller.numbers.size > 0) await numbered(caller);
  const request = parseShellJobRequest({ op: 'start', command: source, cwd: context.cwd, env });
  const answer = request === null ? null : await caller.ask(request);
  const job = answer?.jobs[0]?.job;
  if (job === undefined) {
    const why = request === null ? LARGE_JOB : (answer?.refusal ?? 'the call was stopped');
    return result('', `bash: cannot run in the background: ${why}\n`, 1);
  }
  if (!isApart) {
    caller.own.push(job);
    giveNumber(caller, job);
  }
  await context.assignShellVariable?.(LAST_JOB, String(job));
  return result('');
}

/** Takes jobs out of those that `wait` and `jobs` know; they go on. */
async function disown(caller: ShellJobCaller, args: string[]): Promise<ExecResult> {
  const option = args.find((word) => word.startsWith('-') && !/^-(?:[ahr]+|-)$/.test(word));
  if (option !== undefined) {
    const usage = 'disown: usage: disown [-h] [-ar] [jobspec ... | pid ...]\n';
    return result('', `bash: disown: ${option}: invalid option\n${usage}`, REFUSED);
  }
  const flags = args.filter((word) => word.startsWith('-')).join('');
  const words = args.filter((word) => !word.startsWith('-'));
  const running = await numbered(caller);
  const known = running.map(({ job }) => job).filter((job) => caller.numbers.get(job) !== DISOWNED);
  const isAll = words.length === 0 && /[ar]/.test(flags);
  const current = isAll || words.length > 0 ? [] : ['current'];
  const named = [...words, ...current].map((word) => ({ word, job: jobOf(caller, word === 'current' ? '%%' : word) }));
  let stderr = '';
  for (const { word, job } of [...named, ...(isAll ? known.map((job) => ({ word: '', job })) : [])]) {
    const isKnown = job !== null && (known.includes(job) || caller.own.includes(job));
    if (!isKnown) stderr += `bash: disown: ${word}: no such job\n`;
    else if (!flags.includes('h')) forget(caller, job);
  }
  return result('', stderr, stderr === '' ? 0 : 1);
}

function forget({ own, numbers }: ShellJobCaller, job: number): void {
  if (own.includes(job)) own.splice(own.indexOf(job), 1);
  numbers.set(job, DISOWNED);
}

/** The jobs that are under way, each with its `%n`. One that was waited for has given its own back, as in bash. */
async function numbered(caller: ShellJobCaller): Promise<ShellJobStatus[]> {
  const running = ((await caller.ask({ op: 'list' }))?.jobs ?? []).filter(({ exitCode }) => exitCode === null);
  for (const job of caller.numbers.keys()) {
    const isKnown = caller.own.includes(job) && !caller.waited.has(job);
    if (!isKnown && !running.some((status) => status.job === job)) caller.numbers.delete(job);
  }
  for (const { job } of running) giveNumber(caller, job);
  return running;
}

function giveNumber({ numbers }: ShellJobCaller, job: number): void {
  if (!numbers.has(job)) numbers.set(job, Math.max(0, ...numbers.values()) + 1);
}

/** The job that a word names: a number, or `%n`. Null for none. */
function jobOf(caller: ShellJobCaller, word: string): number | null {
  if (/^\d{1,9}$/.test(word)) return Number(word);
  if (word === '%%' || word === '%+') return caller.own.at(-1) ?? null;
  if (word === '%-') return caller.own.at(-2) ?? null;
  const number = /^%([1-9]\d{0,8})$/.exec(word)?.[1];
  return [...caller.numbers].find(([, given]) => given === Number(number))?.[0] ?? null;
}

async function wait(caller: ShellJobCaller, args: string[]): Promise<ExecResult> {
  const words = args.filter((word) => word !== '-f' && word !== '--');
  const option = words.find((word) => word.startsWith('-'));
  if (option === '-n' && words.length === 1) return waitForAny(caller);
  if (option !== undefined)
    return result('', `bash: wait: ${option}: not supported; use wait, wait -n or wait PID\n`, 2);
  let [stdout, stderr, exitCode] = ['', '', 0];
  for (const word of words.length === 0 ? caller.own.map(String) : words) {
    const job = jobOf(caller, word);
    const answer = job === null ? null : await caller.ask({ op: 'wait', jobs: [job] });
    if (job !== null && answer === null) return bytes(stdout, stderr, INTERRUPTED);
    const ended = answer?.jobs[0];
    if (answer === null || ended === undefined) {
      stderr += `bash: wait: ${/^\d+$/.test(word) ? `pid ${word} is not a child of this shell` : `${word}: no such job`}\n`;
      exitCode = NO_CHILD;
      continue;
    }
    stdout += textOf(answer, 'stdout');
    stderr += textOf(answer, 'stderr');
    caller.waited.add(ended.job);
    exitCode = ended.exitCode ?? 0;
  }
  return bytes(stdout, stderr, words.length === 0 ? 0 : exitCode);
}

async function waitForAny(caller: ShellJobCaller): Promise<ExecResult> {
  const own = caller.own.filter((job) => !caller.waited.has(job));
  if (own.length === 0) return result('', '', NO_CHILD);
  const first = await caller.ask({ op: 'wait', jobs: own });
  if (first === null) return result('', '', INTERRUPTED);
  const ended = first.jobs[0];
  // Of so many that have ended nobody knows any more.
  if (ended === undefined) return result('', '', NO_CHILD);
  caller.waited.add(ended.job);
  return bytes(textOf(first, 'stdout'), textOf(first, 'stderr'), ended.exitCode ?? 0);
}

function textOf({ output }: ShellJobAnswer, wanted: 'stdout' | 'stderr'): string {
  return output.map(({ stream, text }) => (stream === wanted ? text : '')).join('');
}

async function list(caller: ShellJobCaller, args: string[]): Promise<ExecResult> {
  const option = args.find((word) => !['-l', '-p', '-r', '-s'].includes(word));
  if (option !== undefined)
    return result('', `bash: jobs: ${option}: not supported; use jobs, or jobs -l, -p, -r or -s\n`, 2);
  const running = (await numbered(caller)).filter(({ job }) => caller.numbers.get(job) !== DISOWNED);
  const shown = args.includes('-s') ? [] : running;
  if (args.includes('-p')) return result(shown.map(({ job }) => `${job}\n`).join(''));
  return result(shown.map((status, at) => line(caller, status, shown.length - at, args.includes('-l'))).join(''));
}

/** `back`: 1 for the last of them. */
function line(caller: ShellJobCaller, { job, command }: ShellJobStatus, back: number, withNumber: boolean): string {
  const mark = back === 1 ? '+' : back === 2 ? '-' : ' ';
  return `[${caller.numbers.get(job)}]${mark}  ${withNumber ? `${job} ` : ''}Running                 ${command} &\n`;
}

function processesOf(caller: ShellJobCaller): JobProcesses {
  return {
    running: async () => (await numbered(caller)).map(({ job, command }) => ({ pid: job, command })),
    stop: async (job, signal) => {
      if (!KNOWN_SIGNAL.test(signal)) return false;
      if (signal !== '0') await caller.ask({ op: 'stop', job, signal: stopSignalNamed(signal) });
      return true;
    },
  };
}

async function kill(caller: ShellJobCaller, args: string[]): Promise<ExecResult> {
  const words = [...args];
  if (words[0] === '-l' || words[0] === '-L') return listedSignals(words.slice(1));
  let signal = 'TERM';
  const first = words[0];
  if (first === '-s' || first === '-n') signal = words.splice(0, 2)[1] ?? '';
  else if (first !== undefined && /^-\w+$/.test(first)) signal = words.splice(0, 1)[0]?.slice(1) ?? '';
  if (words[0] === '--') words.shift();
  if (words.length === 0)
    return result('', 'kill: usage: kill [-s sigspec | -n signum | -sigspec] pid | jobspec ...\n', 2);
  const isMain = words.every((word) => word === SHELL_PID);
  const own = isMain || words.every((word) => word === currentPid()) ? signalNamed(signal) : null;
  if (own !== null) {
    signalOneself(own, isMain);
    return result('');
  }
  if (!KNOWN_SIGNAL.test(signal)) {
    return result(
      '',
      `bash: kill: ${signal}: not supported: a run can be ended (TERM, KILL, INT, HUP, QUIT) or asked after (0)\n`,
      1,
    );
  }
  const known = await numbered(caller);
  let [stderr, exitCode] = ['', 0];
  for (const word of words) {
    const job = jobOf(caller, word);
    if (job !== null && known.some((status) => status.job === job)) {
      if (signal !== '0') await caller.ask({ op: 'stop', job, signal: stopSignalNamed(signal) });
      continue;
    }
    // The shell asks after itself.
    if (signal === '0' && word === SHELL_PID) continue;
    stderr += word.startsWith('%') ? `bash: kill: ${word}: no such job\n` : `bash: kill: (${word}) - No such process\n`;
    exitCode = 1;
  }
  return result('', stderr, exitCode);
}

/** Signals by their numbers, from 1 on, as Linux has them; 32 and 33 have none. */
const SIGNALS = [
  ...'HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP'.split(' '),
  ...'TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS'.split(' '),
  ...['', '', 'RTMIN', ...Array.from({ length: 15 }, (_, at) => `RTMIN+${at + 1}`)],
  ...[...Array.from({ length: 14 }, (_, at) => `RTMAX-${14 - at}`), 'RTMAX'],
];
const SIGNAL_COLUMNS = 5;
/** An exit code above it is that of a command which a signal ended. */
const BY_SIGNAL = 128;

/** `kill -l`: all signals, or the number of each name and the name of each number. */
function listedSignals(words: readonly string[]): ExecResult {
  if (words.length === 0) {
    const all = SIGNALS.flatMap((name, at) => (name === '' ? [] : [`${String(at + 1).padStart(2)}) SIG${name}`]));
    const lines = Array.from({ length: Math.ceil(all.length / SIGNAL_COLUMNS) }, (_, at) =>
      all.slice(at * SIGNAL_COLUMNS, (at + 1) * SIGNAL_COLUMNS).join('\t'),
    );
    return result(`${lines.join('\n')}\n`);
  }
  let [stdout, stderr] = ['', ''];
  for (const word of words) {
    const number = /^\d+$/.test(word) ? Number(word) : null;
    const wanted = number === null ? null : number > BY_SIGNAL ? number - BY_SIGNAL : number;
    const name = wanted === 0 ? 'EXIT' : (SIGNALS[(wanted ?? 0) - 1] ?? '');
    const at = number === null ? SIGNALS.indexOf(word.toUpperCase().replace(/^SIG/, '')) : -1;
    if (number !== null && name !== '') stdout += `${name}\n`;
    else if (number === null && word !== '' && at !== -1) stdout += `${at + 1}\n`;
    else stderr += `bash: kill: ${word}: invalid signal specification\n`;
  }
  return result(stdout, stderr, stderr === '' ? 0 : 1);
}

/** The name of a signal that a script may have an action for, without `SIG`; null for another. */
function signalNamed(text: string): string | null {
  const numbers: Readonly<Record<string, string>> = {
    1: 'HUP',
    2: 'INT',
    3: 'QUIT',
    9: 'KILL',
    10: 'USR1',
    12: 'USR2',
    14: 'ALRM',
    15: 'TERM',
  };
  const name = numbers[text] ?? text.toUpperCase().replace(/^SIG/, '');
  return Object.values(numbers).includes(name) ? name : null;
}

/** The signal of a name or number; null for KILL. */
function stopSignalNamed(text: string): StopSignal | null {
  const numbers: Readonly<Record<string, StopSignal>> = { 1: 'HUP', 2: 'INT', 3: 'QUIT', 15: 'TERM' };
  const name = numbers[text] ?? text.toUpperCase().replace(/^SIG/, '');
  return isStopSignal(name) ? name : null;
}

/** Output of jobs is text in which bytes that are not UTF-8 are escaped. */
function bytes(stdout: string, stderr: string, exitCode: number): ExecResult {
  return { stdout: Buffer.from(bytesOfText(stdout)).toString('latin1'), stdoutKind: 'bytes', stderr, exitCode };
}
