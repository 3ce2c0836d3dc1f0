/** The shell's `js` command: QuickJS in this process, in milliseconds. `js -e CODE`, `js FILE [ARGUMENT …]`, or code from stdin. */
import { decodeBytesToUtf8, defineCommand } from 'just-bash';
import { runJavaScript } from './javascript.ts';
import type { profileOf } from './policies.ts';

const USAGE = 'usage: js -e CODE [ARGUMENT ...] | js FILE [ARGUMENT ...] | js < FILE\n';

/** Guest values may take half of the profile; the other half is the shell's. */
const SHARE_OF_MEMORY = 0.5;

/** Makes the command for a profile; `deadline` tells when the running call is out of time, in `performance.now()` milliseconds. */
export function jsCommand(
  profile: ReturnType<typeof profileOf>,
  deadline: () => number,
): ReturnType<typeof defineCommand> {
  return defineCommand('js', async (args, context) => {
    const [first, ...rest] = args;
    if (first === '--help' || first === '-h') return { stdout: USAGE, stderr: '', exitCode: 0 };
    const stdin = decodeBytesToUtf8(context.stdin);
    let code = stdin;
    let file = 'stdin';
    let passed = rest;
    if (first === '-e') {
      const [inline, ...others] = rest;
      if (inline === undefined) return { stdout: '', stderr: USAGE, exitCode: 2 };
      code = inline;
      file = 'inline';
      passed = others;
    } else if (first !== undefined && first !== '-') {
      file = context.fs.resolvePath(context.cwd, first);
      try {
        code = await context.fs.readFile(file);
      } catch {
        // Whatever kept it from being read, the shell's words for it are these.
        return { stdout: '', stderr: `js: ${first}: No such file or directory\n`, exitCode: 1 };
      }
    }
    const said = { stdout: '', stderr: '' };
    const room = context.limits.maxOutputSize;
    const result = await runJavaScript(code, {
      limits: { memoryBytes: profile.memoryBytes * SHARE_OF_MEMORY, deadline: deadline() },
      file,
      print: (stream, text) => {
        if (said[stream].length + text.length > room) throw new Error('output limit exceeded');
        said[stream] += text;
      },
      values: { args: passed, stdin: file === 'stdin' ? '' : stdin },
    });
    if (result.ok) return { ...said, exitCode: 0 };
    return { ...said, stderr: `${said.stderr}js: ${result.error}\n`, exitCode: result.timedOut ? 124 : 1 };
  });
}
