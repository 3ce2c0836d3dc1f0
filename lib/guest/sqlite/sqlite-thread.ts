/** Entry of the thread that SQLite runs in: loads it, then answers one request after another until it is ended. */
import { EngineChannel } from './engine-channel.ts';
import { PythonSession } from './python-session.ts';
import { loadEngine } from './sqlite-engine.ts';
import { SqliteShell } from './sqlite-shell.ts';

const channel = new EngineChannel();

void serve();

async function serve(): Promise<void> {
  const engine = await loadEngine(channel);
  let session: PythonSession | null = null;
  for (;;) {
    const request = channel.nextRequest();
    if (request.kind === 'python') {
      session ??= new PythonSession(engine);
      channel.send({ type: 'answer', exitCode: 0, text: session.answer(request.request) });
      continue;
    }
    engine.cwd = request.cwd;
    const exitCode = new SqliteShell(engine, channel).run(request.args, Buffer.from(request.stdin).toString('utf8'));
    channel.send({ type: 'answer', exitCode, text: '' });
  }
}
