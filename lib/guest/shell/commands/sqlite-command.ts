/** The shell's `sqlite3`: SQLite as WebAssembly in a thread, loaded by its first use (sqlite/). */
import type { Command } from 'just-bash';
import { textOfBytes } from '../../../workers/protocol/byte-text.ts';
import type { Run } from '../../../workers/protocol/call.ts';
import { joinStream, MAX_STREAM_BYTES, Output } from '../../../workers/protocol/output.ts';
import { defineCommand, latin1FromBytes } from '../bash.ts';

/** Creates the command. `running` returns the call whose deadline applies. */
export function sqliteCommand(memoryBytes: number, running: () => Run): Command {
  return defineCommand('sqlite3', async (args, context) => {
    const { giveBack, takeThread } = await import('../../sqlite/sqlite-host.ts');
    const thread = takeThread(memoryBytes);
    const output = new Output();
    const stdin = new Uint8Array(Buffer.from(latin1FromBytes(context.stdin), 'latin1'));
    const { exitCode, text, ended } = await thread.call({
      request: { kind: 'shell', args, stdin, cwd: context.cwd },
      fs: context.fs,
      run: running(),
      ...(context.signal && { signal: context.signal }),
      onOutput: (stream, content) => output.add(stream, content),
    });
    giveBack(thread);
    if (output.truncated) running().output.truncated = true;
    const chunks = output.end();
    const why = ended === null ? '' : ended === 'timeout' || ended === 'stopped' ? '' : `sqlite3: ${text}\n`;
    const cut = output.truncated
      ? `sqlite3: more than ${MAX_STREAM_BYTES} bytes were written, the rest was dropped\n`
      : '';
    return {
      stdout: joinStream(chunks, 'stdout'),
      stdoutKind: 'text',
      stderr: joinStream(chunks, 'stderr') + textOfBytes(Buffer.from(why + cut)),
      exitCode: output.truncated && exitCode === 0 ? 1 : exitCode,
    };
  });
}
