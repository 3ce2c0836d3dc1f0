/** `jq`: the real one, on the files that its arguments name (jq-program.ts). */
import { textOfBytes } from '../../../../workers/protocol/byte-text.ts';
import { type CommandCall, type OwnCommand, reasonOf } from '../own-command.ts';
import { MOST_OUTPUT_BYTES, runJq, TooMuchOutput } from './jq-program.ts';

/** Where the pipes of `<(command)` are, for jq. */
const PIPES = '/pipes';

export const jq: OwnCommand = {
  async main(call: CommandCall) {
    const files = new Map<string, Uint8Array>();
    const folders: string[] = [];
    const args: string[] = [];
    for (const arg of call.args) args.push(await given(call, arg, files, folders));
    const env = { ...call.context.exportedEnv };
    const run = { args: ['-M', ...args], stdin: call.stdin, files, folders, cwd: call.cwd, env };
    const outcome = await runJq(run).catch((error: unknown) => {
      if (error instanceof TooMuchOutput) call.end(`it prints more than ${MOST_OUTPUT_BYTES} bytes`, 5);
      if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError) return null;
      throw error;
    });
    if (outcome === null) call.end('it takes more memory than one call of it has: 256 MiB, and a stack of 5 MiB', 5);
    call.print(outcome.stdout);
    call.warn(textOfBytes(outcome.stderr));
    return outcome.exitCode;
  },
};

/** Brings what an argument may name, which is nearly always a file or nothing; returns the argument for jq. */
async function given(
  call: CommandCall,
  arg: string,
  files: Map<string, Uint8Array>,
  folders: string[],
): Promise<string> {
  if (arg.startsWith('-') || arg === '' || arg.includes('\0') || arg === '/dev/stdin') return arg;
  try {
    const path = call.path(arg);
    const isPipe = path.startsWith('/dev/fd/');
    const info = isPipe ? null : call.files.look(path);
    if (info?.kind === 'dir') folders.push(path);
    if (!isPipe && info?.kind !== 'file') return arg;
    const place = isPipe ? `${PIPES}/${path.slice('/dev/fd/'.length)}` : path;
    files.set(place, await call.input(arg));
    return isPipe ? place : arg;
  } catch (error) {
    // A filter that is no path, or a file that cannot be read: jq says so itself.
    reasonOf(error);
    return arg;
  }
}
