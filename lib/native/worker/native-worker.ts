/**
 * Process entry for real programs: one sandbox, from its file to its rest. Root's, in a namespace of mounts of its own:
 * when it ends, however it does, its mount is gone, its jail ends, and the server removes what is left of the groups.
 * Runs nothing of a guest itself. Knows nothing of rows, drawers or HTTP.
 */
import { WorkerChannel } from '../../base/channel.ts';
import { leaveSignalsToServer } from '../../base/process-signals.ts';
import { serializeError } from '../../base/serialized-error.ts';
import type { FromInstance, ToInstance } from '../../workers/protocol/protocol.ts';
import { NativeSandbox } from './native-sandbox.ts';
import { nativePlaceOf } from './native-start.ts';

/** Where `mount` and its kind are; nothing else of the server's variables is here. */
const TOOLS = '/usr/sbin:/usr/bin:/sbin:/bin';
/** The code with which it ends when the disk failed below the mount: sysexits' EX_IOERR. */
const DISK_EXIT = 74;

const place = nativePlaceOf(process.argv);
for (const name of Object.keys(process.env)) if (name !== 'SQLITE_TMPDIR') delete process.env[name];
process.env.PATH = TOOLS;
process.umask(0o022);
leaveSignalsToServer();
process.on('SIGTERM', () => void end());

let opening: Promise<NativeSandbox> | null = null;
/** Resolves when every message that has come was begun: they begin in the order in which they came. */
let begun: Promise<void> = Promise.resolve();

const channel = new WorkerChannel(
  (message: ToInstance) => {
    begun = begun.then(() => begin(message));
  },
  () => process.exit(0),
);
send({ type: 'ready', pid: process.pid });

/** Acknowledges a message that asks for it, then begins it. */
async function begin(message: ToInstance): Promise<void> {
  if ('acknowledge' in message && message.acknowledge) await delivered({ type: 'started', id: message.id });
  const id = 'id' in message ? message.id : null;
  const failed = (error: unknown) =>
    send({ type: 'failed', id, failure: serializeError(error, 'The Instance failed unexpectedly.') });
  if (message.type === 'ping') return send({ type: 'pong' });
  if (message.type === 'open') return void open(message).catch(failed);
  try {
    if (opening === null) throw new Error(`It was told to ${message.type} before it had a file.`);
    const sandbox = await opening;
    await sandbox.thaw();
    const handled = handle(sandbox, message).catch(failed);
    // What comes behind it lets the programs go on only when they are stopped.
    if (message.type === 'trim') await handled;
  } catch (error) {
    failed(error);
  }
}

async function open({ spec }: Extract<ToInstance, { type: 'open' }>): Promise<void> {
  if (spec.native === undefined) throw new Error('It was told nothing of its root.');
  const { file, maxBytes, maxFileBytes, mustExist } = spec;
  opening = NativeSandbox.open(place, spec.native, { file, maxBytes, maxFileBytes, mustExist }, send);
  const sandbox = await opening;
  void sandbox.failed.then((why) => {
    process.stderr.write(`The file is served no more: ${why}\n`);
    // What was said before is in the channel.
    setImmediate(() => process.exit(DISK_EXIT));
  });
  send({ type: 'opened' });
}

async function handle(sandbox: NativeSandbox, message: Exclude<ToInstance, { type: 'open' | 'ping' }>): Promise<void> {
  switch (message.type) {
    case 'call':
      if (message.call.kind !== 'exec') throw new Error(`Real programs have no ${message.call.kind}.`);
      return sandbox.exec(message.id, message.call);
    case 'abort':
      return sandbox.stop(message.id, message.signal);
    case 'write':
      return sandbox.write(message.id, message.operation);
    case 'read':
      return sandbox.read(message.id, message.request);
    case 'peek':
      // A reader beside it answers.
      return send({ type: 'done', id: message.id, result: null });
    case 'trim': {
      const holds = await sandbox.freeze();
      if (holds === null) globalThis.gc?.();
      return send({ type: 'trimmed', id: message.id, holds });
    }
    case 'close':
      return send({ type: 'closed', identity: await sandbox.close() });
    case 'job':
    case 'fetched':
      return;
  }
}

/** Puts the file to rest and exits. One that cannot be is as after a kill, and the server recovers it. */
async function end(): Promise<void> {
  try {
    await (await opening)?.close();
    process.exit(0);
  } catch {
    process.exit(1);
  }
}

function send(message: FromInstance): void {
  void delivered(message);
}

/** Resolves when the message is in the channel, from where the server receives it even if this process dies. */
function delivered(message: FromInstance): Promise<void> {
  return new Promise((resolve) => channel.send(message, resolve));
}
