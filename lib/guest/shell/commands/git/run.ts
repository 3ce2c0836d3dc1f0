/** Runs one `git` command line: its global options, its command, and what an error prints. */
import type { CommandContext, ExecResult } from 'just-bash';
import type { Run } from '../../../../workers/protocol/call.ts';
import { latin1FromBytes } from '../../bash.ts';
import { normalizePath } from '../../guest-paths.ts';
import { booleanSetting } from './configuration.ts';
import { FileAccess } from './file-access.ts';
import { GitContext } from './git-context.ts';
import { GitError } from './git-error.ts';
import { GitOutput } from './git-output.ts';
import { reportHooks } from './hooks.ts';
import { withPathQuoting } from './quoted-path.ts';
import { GIT_VERBS, UNSUPPORTED } from './verbs.ts';

const VERSION = 'git version 2.39.5 (isomorphic-git)';
const USAGE = `usage: git [-v | --version] [-h | --help] [-C <path>] [-c <name>=<value>]
           [--no-pager] [--git-dir=<path>] [--work-tree=<path>]
           <command> [<args>]

These commands work here, on the files of the sandbox:

   ${Object.keys(GIT_VERBS).sort().join(' ')}
`;
const USAGE_EXIT = 1;

export async function runGit(args: string[], context: CommandContext, run: Run): Promise<ExecResult> {
  const out = new GitOutput();
  let exitCode = 0;
  let message = '';
  try {
    exitCode = await perform(args, context, run, out);
  } catch (error) {
    if (error instanceof GitError) {
      exitCode = error.exitCode;
      message = error.message === '' ? '' : `${error.message}\n`;
    } else {
      exitCode = 128;
      message = `fatal: ${reasonOf(error)}\n`;
    }
  }
  return { stdout: out.stdout, stdoutKind: 'bytes', stderr: out.stderr + message, exitCode };
}

async function perform(args: string[], context: CommandContext, run: Run, out: GitOutput): Promise<number> {
  let cwd = context.cwd;
  const env = new Map(Object.entries(context.exportedEnv ?? {}));
  const settings = new Map<string, string>();
  let at = 0;
  for (; at < args.length && args[at]?.startsWith('-'); at += 1) {
    const arg = args[at] ?? '';
    const [name = '', inline] = arg.startsWith('--') ? splitAtEquals(arg) : [arg];
    if (name === '--version' || name === '-v') {
      out.line(VERSION);
      return 0;
    }
    if (name === '--help' || name === '-h') {
      out.text(USAGE);
      return 0;
    }
    if (['--no-pager', '-P', '--no-optional-locks', '--no-replace-objects'].includes(name)) continue;
    if (!['-C', '-c', '--git-dir', '--work-tree'].includes(name))
      throw new GitError(
        `error: unknown option: ${arg}, or one that is not supported in this sandbox\n${USAGE.trimEnd()}`,
        129,
      );
    if (inline === undefined) at += 1;
    const value = inline ?? args[at];
    if (value === undefined) throw new GitError(`no value given for ${name}`, 129);
    if (name === '-C') {
      cwd = normalizePath(value, cwd);
      if (!(await context.fs.exists(cwd)))
        throw new GitError(`fatal: cannot change to '${value}': No such file or directory`);
    } else if (name === '-c') settings.set(...pairOf(value));
    else env.set(name === '--git-dir' ? 'GIT_DIR' : 'GIT_WORK_TREE', normalizePath(value, cwd));
  }
  const [verb, ...rest] = args.slice(at);
  if (verb === undefined) {
    out.text(USAGE);
    return USAGE_EXIT;
  }
  const handler = Object.hasOwn(GIT_VERBS, verb) ? GIT_VERBS[verb] : undefined;
  if (handler === undefined) {
    const why = Object.hasOwn(UNSUPPORTED, verb) ? UNSUPPORTED[verb] : undefined;
    if (why !== undefined) throw new GitError(`fatal: git ${verb} is not supported in this sandbox: ${why}`, 1);
    throw new GitError(`git: '${verb}' is not a git command. See 'git --help'.`, 1);
  }
  const stdin = latin1FromBytes(context.stdin);
  const command = new GitContext({
    files: new FileAccess(context.fs, run, context.signal),
    out,
    cwd,
    env,
    stdin,
    settings,
  });
  const quotes = await booleanSetting(command, 'core.quotepath', true);
  try {
    return await withPathQuoting(quotes, () => handler(command, rest));
  } finally {
    await reportHooks(command);
  }
}

/** Why isomorphic-git gave up: a damaged repository is to it an error of its own, which its message asks to report. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!('data' in error) || error.name !== 'InternalError') return error.message;
  const { message } = error.data as { message?: unknown };
  return typeof message === 'string' ? message : error.message;
}

function splitAtEquals(text: string): [string, string?] {
  const equals = text.indexOf('=');
  return equals < 0 ? [text] : [text.slice(0, equals), text.slice(equals + 1)];
}

function pairOf(text: string): [string, string] {
  const [name, value] = splitAtEquals(text);
  return [name, value ?? 'true'];
}
