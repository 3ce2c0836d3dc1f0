/**
 * `ps`, `pgrep`, `pkill`, `killall` and `pidof`: the processes of a sandbox are its shell and the jobs that are under
 * way. A job has the name and the words of the command that began it; what runs inside one has no number of its own.
 */
import type { ExecResult } from 'just-bash';

/** A job that is under way. */
interface JobProcess {
  pid: number;
  /** What `&` put aside. */
  command: string;
}

/** What these commands need of the call. */
export interface JobProcesses {
  /** Those under way, oldest first. */
  running(): Promise<JobProcess[]>;
  /** `signal`: its name or number. Returns whether jobs know it. */
  stop(pid: number, signal: string): Promise<boolean>;
}

interface Row {
  pid: number;
  ppid: number;
  name: string;
  words: string;
}

type JobCommand = (processes: JobProcesses, args: readonly string[]) => Promise<ExecResult>;

const SHELL: Row = { pid: 1, ppid: 0, name: 'bash', words: 'bash' };
/** Where the command of a job is no single program, its process is a shell. */
const COMPOUND = /^(?:[({!]|\[\[|(?:if|for|while|until|case|function|select|time)\b)|[\n;|&]/;
const ASSIGNMENT = /^[A-Za-z_]\w*=/;
/** The kernel keeps so many characters of a process's name. */
const NAME_LENGTH = 15;
const NO_TIME = '00:00:00';
const LETTERS_WITH_VALUE = 'uUgGtPsdF';

const result = (stdout: string, stderr = '', exitCode = 0): ExecResult => ({ stdout, stderr, exitCode });

export const JOB_PROCESS_COMMANDS: Readonly<Record<string, JobCommand>> = {
  ps,
  pgrep: (processes, args) => search(processes, 'pgrep', args),
  pkill: (processes, args) => search(processes, 'pkill', args),
  killall: killAll,
  pidof,
};

function rowOf({ pid, command }: JobProcess): Row {
  const text = command.trim();
  if (COMPOUND.test(text)) return { pid, ppid: SHELL.pid, name: 'bash', words: 'bash' };
  const all = (text.match(/(?:[^\s'"\\]|'[^']*'|"[^"]*"|\\.)+/g) ?? []).filter((word) => !/^\d*[<>]/.test(word));
  const words = all.slice(all.findIndex((word) => !ASSIGNMENT.test(word)));
  const plain = words.map((word) => word.replace(/['"\\]/g, ''));
  const program = plain[0] === 'nohup' || plain[0] === 'exec' || plain[0] === 'setsid' ? plain.slice(1) : plain;
  const name = (program[0] ?? 'bash').split('/').at(-1) ?? '';
  return { pid, ppid: SHELL.pid, name: name.slice(0, NAME_LENGTH), words: program.join(' ') };
}

async function jobRows(processes: JobProcesses): Promise<Row[]> {
  return (await processes.running()).map(rowOf);
}

async function search(processes: JobProcesses, called: string, args: readonly string[]): Promise<ExecResult> {
  const flags = new Set<string>();
  let [signal, separator, pattern] = ['TERM', '\n', ''];
  const words = [...args];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const isSignal = called === 'pkill' && /^-(?:\d+|[A-Z]{2,}\d?)$/.test(word);
    const long =
      /^--(signal|delimiter|full|exact|count|ignore-case|newest|oldest|list-name|list-full|echo)(?:=(.*))?$/.exec(word);
    if (isSignal) signal = word.slice(1);
    else if (long?.[1] === 'signal') signal = long[2] ?? words.shift() ?? '';
    else if (long?.[1] === 'delimiter') separator = long[2] ?? words.shift() ?? '';
    else if (long !== null) flags.add(LONG[long[1] ?? ''] ?? '');
    else if (word === '--') pattern = words.shift() ?? '';
    else if (/^-[A-Za-z]/.test(word)) {
      const letters = word.slice(1);
      const at = [...letters].findIndex((letter) => LETTERS_WITH_VALUE.includes(letter));
      for (const letter of at < 0 ? letters : letters.slice(0, at)) flags.add(letter);
      const value = at < 0 ? '' : letters.slice(at + 1) || (words.shift() ?? '');
      if (letters[at] === 'd') separator = value;
      else if (at >= 0 && !'uU'.includes(letters[at] ?? '')) flags.add(letters[at] ?? '');
    } else pattern = word;
  }
  const unknown = [...flags].find((letter) => !'fxlacnoie'.includes(letter));
  if (unknown !== undefined)
    return result('', `${called}: the option -${unknown} is not supported in this sandbox\n`, 2);
  if (pattern === '' && args.length === 0)
    return result('', `${called}: no matching criteria specified\nTry \`${called} --help' for more information.\n`, 2);
  let matcher: RegExp;
  try {
    matcher = new RegExp(flags.has('x') ? `^(?:${pattern})$` : pattern, flags.has('i') ? 'i' : '');
  } catch {
    return result('', `${called}: ${pattern}: not a regular expression\n`, 2);
  }
  const all = (await jobRows(processes)).filter(({ name, words: text }) => matcher.test(flags.has('f') ? text : name));
  const found = flags.has('n') ? all.slice(-1) : flags.has('o') ? all.slice(0, 1) : all;
  const exitCode = found.length > 0 ? 0 : 1;
  const count = flags.has('c') ? `${found.length}\n` : '';
  if (called === 'pkill') {
    for (const { pid } of found)
      if (!(await processes.stop(pid, signal))) return result('', unknownSignal(called, signal), 2);
    const told = flags.has('e') ? found.map(({ name, pid }) => `${name} killed (pid ${pid})\n`).join('') : '';
    return result(`${told}${count}`, '', exitCode);
  }
  const lines = found.map(({ pid, name, words: text }) =>
    flags.has('a') ? `${pid} ${text}` : flags.has('l') ? `${pid} ${name}` : `${pid}`,
  );
  return result(count !== '' || lines.length === 0 ? count : `${lines.join(separator)}\n`, '', exitCode);
}

const LONG: Readonly<Record<string, string>> = {
  full: 'f',
  exact: 'x',
  count: 'c',
  'ignore-case': 'i',
  newest: 'n',
  oldest: 'o',
  'list-name': 'l',
  'list-full': 'a',
  echo: 'e',
};

function unknownSignal(called: string, signal: string): string {
  return `${called}: ${signal}: not supported: a run can be ended (TERM, KILL, INT, HUP, QUIT) or asked after (0)\n`;
}

async function killAll(processes: JobProcesses, args: readonly string[]): Promise<ExecResult> {
  const words = [...args];
  let [signal, isQuiet] = ['TERM', false];
  while (words[0]?.startsWith('-')) {
    const word = words.shift() ?? '';
    if (word === '-q') isQuiet = true;
    else if (word === '-s') signal = words.shift() ?? '';
    else if (/^-(?:\d+|[A-Z]{2,}\d?)$/.test(word)) signal = word.slice(1);
    else return result('', `killall: the option ${word} is not supported in this sandbox\n`, 1);
  }
  if (words.length === 0) return result('', 'killall: no process name given\n', 1);
  let stderr = '';
  const rows = await jobRows(processes);
  for (const wanted of words) {
    const found = rows.filter(({ name }) => name === wanted.slice(0, NAME_LENGTH));
    if (found.length === 0) stderr += `${wanted}: no process found\n`;
    for (const { pid } of found)
      if (!(await processes.stop(pid, signal))) return result('', unknownSignal('killall', signal), 1);
  }
  return result('', isQuiet ? '' : stderr, stderr === '' ? 0 : 1);
}

async function pidof(processes: JobProcesses, args: readonly string[]): Promise<ExecResult> {
  const option = args.find((word) => /^-./.test(word) && word !== '-s');
  if (option !== undefined) return result('', `pidof: the option ${option} is not supported in this sandbox\n`, 1);
  const names = args.filter((word) => word !== '-s').map((word) => word.split('/').at(-1) ?? '');
  const pids = (await jobRows(processes)).filter(({ name }) => names.includes(name)).map(({ pid }) => pid);
  const shown = pids.toReversed().slice(0, args.includes('-s') ? 1 : undefined);
  return result(shown.length === 0 ? '' : `${shown.join(' ')}\n`, '', shown.length === 0 ? 1 : 0);
}

/** A column of `ps -o`: its title, its width (negative: to the left), and what it says of a process. */
type Column = readonly [title: string, width: number, of: (row: Row) => string];

const COLUMNS: Readonly<Record<string, Column>> = {
  user: ['USER', -8, () => 'user'],
  pid: ['PID', 5, ({ pid }) => String(pid)],
  ppid: ['PPID', 5, ({ ppid }) => String(ppid)],
  pcpu: ['%CPU', 4, () => '0.0'],
  pmem: ['%MEM', 4, () => '0.0'],
  vsz: ['VSZ', 6, () => '0'],
  rss: ['RSS', 5, () => '0'],
  tty: ['TT', -8, () => '?'],
  stat: ['STAT', -4, () => 'S'],
  s: ['S', -1, () => 'S'],
  time: ['TIME', 8, () => NO_TIME],
  comm: ['COMMAND', -15, ({ name }) => name],
  args: ['COMMAND', -27, ({ words }) => words],
  cmd: ['CMD', -27, ({ words }) => words],
};
const ALIASES: Readonly<Record<string, string>> = {
  '%cpu': 'pcpu',
  '%mem': 'pmem',
  command: 'args',
  state: 's',
  tt: 'tty',
  ucmd: 'comm',
  uname: 'user',
};

async function ps(processes: JobProcesses, args: readonly string[]): Promise<ExecResult> {
  const asked = askedOf(args);
  if (typeof asked === 'string')
    return result('', `ps: ${asked} is not supported in this sandbox: ps, ps aux, ps -ef, ps -p and ps -o are\n`, 1);
  const jobs = await jobRows(processes);
  const itself = { pid: Math.max(SHELL.pid, ...jobs.map(({ pid }) => pid)) + 1, ppid: SHELL.pid, name: 'ps' };
  const all = [SHELL, ...jobs, { ...itself, words: ['ps', ...args].join(' ') }];
  const rows = all.filter(
    ({ pid, name }) =>
      (asked.pids === null && asked.names === null) || asked.pids?.includes(pid) || asked.names?.includes(name),
  );
  const isPicked = asked.pids !== null || asked.names !== null;
  return result(tableOf(asked, rows), '', isPicked && rows.length === 0 ? 1 : 0);
}

interface Asked {
  form: 'short' | 'full' | 'user' | 'columns';
  columns: [name: string, title: string | null][];
  pids: number[] | null;
  names: string[] | null;
  hasTitle: boolean;
}

/** What the words of `ps` ask for, or the word that is not known. */
function askedOf(args: readonly string[]): Asked | string {
  const asked: Asked = { form: 'short', columns: [], pids: null, names: null, hasTitle: true };
  const words = [...args];
  const number = (text: string) =>
    text
      .split(/[\s,]+/)
      .filter(Boolean)
      .map(Number);
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const long = /^--(?:(no-headers?|noheaders?)|(pid|format)(?:=(.*))?|sort(?:=.*)?|forest|ppid(?:=.*)?)$/.exec(word);
    const short = /^-?([A-Za-z]*?)([poCh]?)((?:\d|=).*)?$/.exec(word);
    if (/^\d+(?:,\d+)*$/.test(word)) asked.pids = [...(asked.pids ?? []), ...number(word)];
    else if (long?.[1] !== undefined) asked.hasTitle = false;
    else if (long?.[2] === 'pid') asked.pids = [...(asked.pids ?? []), ...number(long[3] ?? words.shift() ?? '')];
    else if (long?.[2] === 'format') {
      if (!takeColumns(asked, long[3] ?? words.shift() ?? '')) return word;
    } else if (short === null || !/^[eAaxufwjl]*$/.test(short[1] ?? '') || /[jl]/.test(short[1] ?? '')) return word;
    else {
      const letters = short[1] ?? '';
      if (letters.includes('u')) asked.form = 'user';
      if (letters.includes('f') && asked.form === 'short') asked.form = 'full';
      if (short[2] === 'h') asked.hasTitle = false;
      if (short[2] === 'p') asked.pids = [...(asked.pids ?? []), ...number(short[3] ?? words.shift() ?? '')];
      if (short[2] === 'C') asked.names = [...(asked.names ?? []), ...(words.shift() ?? '').split(',')];
      if (short[2] === 'o' && !takeColumns(asked, short[3] ?? words.shift() ?? ''))
        return `the column in ${args.join(' ')}`;
    }
  }
  return asked;
}

function takeColumns(asked: Asked, list: string): boolean {
  asked.form = 'columns';
  for (const entry of list.split(/[\s,]+/).filter(Boolean)) {
    const [, given = '', title] = /^([^=]+)(?:=(.*))?$/.exec(entry) ?? [];
    const name = ALIASES[given] ?? given;
    if (!Object.hasOwn(COLUMNS, name)) return false;
    asked.columns.push([name, title ?? null]);
  }
  return asked.columns.length > 0;
}

function tableOf({ form, columns, hasTitle }: Asked, rows: readonly Row[]): string {
  const lines: string[] = [];
  if (form === 'columns') {
    const chosen = columns.map(([name, title]) => [COLUMNS[name] as Column, title] as const);
    if (hasTitle && chosen.some(([, title]) => title !== ''))
      lines.push(inColumns(chosen.map(([[usual, width], title]) => [title ?? usual, width])));
    for (const row of rows) lines.push(inColumns(chosen.map(([[, width, of]]) => [of(row), width])));
  } else if (form === 'user') {
    if (hasTitle) lines.push('USER       PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND');
    for (const { pid, words } of rows)
      lines.push(`user     ${String(pid).padStart(5)}  0.0  0.0      0     0 ?        S    00:00   0:00 ${words}`);
  } else if (form === 'full') {
    if (hasTitle) lines.push('UID        PID  PPID  C STIME TTY          TIME CMD');
    for (const { pid, ppid, words } of rows)
      lines.push(
        `user     ${String(pid).padStart(5)} ${String(ppid).padStart(5)}  0 00:00 ?        ${NO_TIME} ${words}`,
      );
  } else {
    if (hasTitle) lines.push('  PID TTY          TIME CMD');
    for (const { pid, name } of rows) lines.push(`${String(pid).padStart(5)} ?        ${NO_TIME} ${name}`);
  }
  return lines.map((line) => `${line}\n`).join('');
}

function inColumns(cells: readonly (readonly [text: string, width: number])[]): string {
  const texts = cells.map(([text, width], at) => {
    if (width > 0) return text.padStart(width);
    return at === cells.length - 1 ? text : text.padEnd(-width);
  });
  return texts.join(' ');
}
