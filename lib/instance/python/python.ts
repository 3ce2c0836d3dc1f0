/**
 * The shell's `python3`: runs just-bash's CPython without changing the code. On its own it indents the code to wrap it
 * in a `try`, which changes multi-line strings. Here the code travels as base64 and is compiled unchanged.
 */
import type { Command, CommandContext, ExecResult, IFileSystem } from 'just-bash';
import { textOfBytes } from '../byte-text.ts';
import type { Run } from '../run.ts';
import { decodeBytesToUtf8, defineCommand } from '../shell/bash.ts';
import type { FilePort } from '../shell/guest-files.ts';
import type { Outlet } from '../shell/outlets.ts';
import type { OutputSinks } from '../shell/output-sinks.ts';
import { DATABASE_SETUP, SQLITE_PORT } from '../sqlite/python-finder.ts';
import { LazyPythonPort } from '../sqlite/python-import.ts';
import { giveLiveOutput, type LiveOutput } from './live-output.ts';
import { ABSENT_SETUP } from './python-absent.ts';
import { type PythonArguments, pythonArguments } from './python-arguments.ts';
import { NETWORK_SETUP, PythonNetworkPort } from './python-network.ts';
import { NETWORK_PORT } from './python-network-module.ts';
import { byteOutputSetup, decodePythonOutput } from './python-output.ts';
import { FILE_SETUP, type ModuleSearch, moduleSearch } from './python-paths.ts';

const USAGE_EXIT = 2;

/** What the commands need of their shell. */
export interface PythonSurroundings {
  /** The shell's file system, which exists once the shell does. */
  files: () => IFileSystem & { sinks: OutputSinks; setPort(path: string, port: FilePort | null): void };
  /** The call that they are part of. */
  running: () => Run;
  memoryBytes: number;
}

/** Commands with these names that replace just-bash's own. */
export function pythonCommands(
  names: readonly string[],
  { files, running, memoryBytes }: PythonSurroundings,
): Command[] {
  return names.map((name) =>
    defineCommand(name, async (args, context) => {
      const port = new LazyPythonPort(files(), running(), memoryBytes);
      files().setPort(SQLITE_PORT, port);
      const run = running();
      files().setPort(NETWORK_PORT, new PythonNetworkPort((request) => run.fetch(request)));
      let refusal: string | null = null;
      let result: ExecResult;
      try {
        result = await runPython(name, args, context, liveOutput(context, files().sinks));
      } finally {
        files().setPort(SQLITE_PORT, null);
        files().setPort(NETWORK_PORT, null);
        refusal = await port.close();
      }
      if (refusal === null || running().expired) return result;
      const stderr = `${result.stderr}${name}: what sqlite3 has committed last could not be written: ${refusal}\n`;
      return { ...result, stderr, exitCode: result.exitCode || 1 };
    }),
  );
}

/**
 * Sends what Python prints while it runs, line by line as to a terminal, where somebody follows it. Null elsewhere: its
 * output comes as by a pipe.
 */
function liveOutput({ pipe }: CommandContext & { pipe?: Outlet }, sinks: OutputSinks): LiveOutput | null {
  if (!pipe?.live || !sinks.isFollowed) return null;
  return (stream, text) => {
    const path = pipe.pathOf(stream);
    return path !== null && sinks.send(path, decodePythonOutput(text));
  };
}

/** Refuses file names that are not UTF-8: they would change on their way to the sandbox. */
const REFUSE_OTHER_NAMES = [
  ' def named(event, args):',
  '  if event == "open" or event.startswith("os.") and event not in ("os.putenv", "os.unsetenv"):',
  '   for arg in args:',
  '    if isinstance(arg, str): arg.encode()',
  '    elif isinstance(arg, bytes): arg.decode()',
  ' sys.addaudithook(named)',
];

interface SourceOptions extends ModuleSearch, Partial<Pick<PythonArguments, 'warnings' | 'optimize'>> {
  live?: boolean;
  /** `file` is one: the program knows it as `__file__`. */
  isFile?: boolean;
}

/** Code that runs `source` as if Python had received it directly: the same file name, arguments and tracebacks. */
export function pythonSource(
  source: string,
  file: string,
  argument0: string,
  { warnings = [], optimize = 0, live = false, isFile = false, ...search }: SourceOptions = {},
): string {
  const encoded = Buffer.from(source).toString('base64');
  return [
    'def _run():',
    ' import base64, linecache, sys, traceback',
    ...byteOutputSetup(live),
    ...REFUSE_OTHER_NAMES,
    ...DATABASE_SETUP,
    ...NETWORK_SETUP,
    ...ABSENT_SETUP,
    ...FILE_SETUP,
    ...moduleSearch(search),
    ...(warnings.length === 0 ? [] : [' import warnings', ` warnings._processoptions(${JSON.stringify(warnings)})`]),
    ` file, source = ${JSON.stringify(file)}, base64.b64decode("${encoded}").decode()`,
    ` sys.argv[0] = ${JSON.stringify(argument0)}`,
    ' linecache.cache[file] = (len(source), None, source.splitlines(True), file)',
    // A module of its own: that of just-bash is full of its names.
    ' main = type(sys)("__main__")',
    ' main.__dict__["__builtins__"] = sys.modules["builtins"]',
    ...(isFile ? [' main.__file__ = file'] : []),
    ' _run.before, sys.modules["__main__"] = sys.modules["__main__"], main',
    ' try:',
    `  exec(compile(source, file, "exec", optimize=${optimize === 0 ? -1 : Math.min(optimize, 2)}), main.__dict__)`,
    ' except SystemExit as end:',
    '  if end.code is None or isinstance(end.code, int):',
    '   raise',
    '  print(end.code, file=sys.stderr)',
    '  sys.exit(1)',
    ' except BaseException as error:',
    '  sys.stdout.flush()',
    '  traceback.print_exception(type(error), error, error.__traceback__.tb_next)',
    '  sys.exit(1)',
    '_run()',
  ].join('\n');
}

/** Restores the exact bytes of Python's output. */
async function withExactOutput(running: Promise<ExecResult>): Promise<ExecResult> {
  const { stdout, stderr, exitCode } = await running;
  return {
    stdout: decodePythonOutput(stdout).toString('latin1'),
    stdoutKind: 'bytes',
    stderr: textOfBytes(decodePythonOutput(stderr)),
    exitCode,
  };
}

async function runPython(
  name: string,
  args: string[],
  context: CommandContext,
  live: LiveOutput | null,
): Promise<ExecResult> {
  const { origCommand } = context;
  if (!origCommand) return { stdout: '', stderr: `${name}: not available\n`, exitCode: 127 };
  const read = pythonArguments(name, args);
  if ('original' in read) return origCommand([read.original]);
  if ('exitCode' in read) return read;
  const { what, rest, isSafePath, ...how } = read;
  const first = isSafePath ? { first: null } : {};
  const run = async (source: string, file: string, argument0: string, search: SourceOptions = first) => {
    const code = pythonSource(source, file, argument0, { ...how, ...search, live: live !== null });
    giveLiveOutput(live);
    try {
      return await withExactOutput(origCommand(['-c', code, ...rest]));
    } finally {
      giveLiveOutput(null);
    }
  };
  switch (what.kind) {
    case 'code':
      return run(what.text, '<string>', '-c');
    case 'module':
      if (what.text === 'pip' && context.exec)
        return context.exec('pip', { cwd: context.cwd, args: rest, env: { ...context.exportedEnv } });
      if (!/^[\w.]+$/.test(what.text)) {
        return { stdout: '', stderr: `${name}: No module named ${what.text}\n`, exitCode: 1 };
      }
      return run(
        `import runpy\nrunpy.run_module(${JSON.stringify(what.text)}, run_name="__main__", alter_sys=True)`,
        '<string>',
        what.text,
      );
    case 'stdin': {
      const source = decodeBytesToUtf8(context.stdin);
      return source.trim() === '' ? origCommand(args) : run(source, '<stdin>', args.includes('-') ? '-' : '');
    }
    case 'file': {
      const file = context.fs.resolvePath(context.cwd, what.text);
      let source: string;
      try {
        source = await context.fs.readFile(file);
      } catch {
        // Python reports every read error with these words.
        const stderr = `${name}: can't open file '${file}': [Errno 2] No such file or directory\n`;
        return { stdout: '', stderr, exitCode: USAGE_EXIT };
      }
      const folder = file.slice(0, Math.max(1, file.lastIndexOf('/')));
      return run(source, file, what.text, { isFile: true, first: isSafePath ? null : folder });
    }
  }
}
