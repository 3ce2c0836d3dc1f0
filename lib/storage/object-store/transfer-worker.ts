/**
 * Entry point of a transfer process: moves files into the store and out of it, one after the other. Streams and hashes
 * are its whole work, so the server's thread and memory stay free of them. Ends with the server.
 */
import { flushCompileCache } from 'node:module';
import { WorkerChannel } from '../../base/channel.ts';
import { isWinterdockError, WinterdockError } from '../../base/errors.ts';
import { endHelper } from '../../base/helper-end.ts';
import { leaveSignalsToServer } from '../../base/process-signals.ts';
import { serializeError } from '../../base/serialized-error.ts';
import { openDriver } from './open-driver.ts';
import type { StoreDriver } from './store-driver.ts';
import type { ToTransferProcess, TransferMessage, TransferTask } from './transfer-messages.ts';
import { downloadFile, uploadFile } from './transfers.ts';

/** Between two words on how far it is. */
const TELL_MS = 250;

/** The pieces of so many bytes are collected at once: V8 by itself waits for many more. It takes a millisecond. */
const COLLECTED_BYTES = 8 * 1024 * 1024;

let open: (() => Promise<StoreDriver>) | null = null;
let driver: StoreDriver | null = null;
let ending: AbortController | null = null;

const channel = new WorkerChannel((message: ToTransferProcess) => {
  if ('store' in message) {
    // The server has opened it: a folder that is not there any more is away.
    open = () => openDriver(message.store, { ...message.connection, credentials: {} }, { makes: false });
  } else if ('abort' in message) ending?.abort(new WinterdockError('storage_unavailable', 'It was called off.'));
  else void run(message.task);
}, endHelper);
leaveSignalsToServer();
send({ ready: true });
flushCompileCache();

async function run({ kind, name, path, options }: TransferTask): Promise<void> {
  let gone = 0;
  const telling = setInterval(() => send({ gone }), TELL_MS);
  ending = new AbortController();
  const work = kind === 'upload' ? uploadFile : downloadFile;
  let collected = 0;
  const progress = (bytes: number) => {
    gone = bytes;
    if (Math.abs(bytes - collected) < COLLECTED_BYTES) return;
    collected = bytes;
    globalThis.gc?.({ type: 'minor' });
  };
  try {
    driver ??= (await open?.()) ?? null;
    if (driver === null) throw new Error('It has no store.');
    const transferred = await work(driver, name, path, { ...options, signal: ending.signal, progress });
    send({ gone });
    send({ transferred });
  } catch (error) {
    send(told(error));
  } finally {
    clearInterval(telling);
    ending = null;
  }
}

/** An error of the system is of the local file: those of the store have become words of its own. */
function told(error: unknown): TransferMessage {
  if (!isWinterdockError(error) && error instanceof Error && 'code' in error && 'syscall' in error) {
    return { system: { code: String(error.code), syscall: String(error.syscall) } };
  }
  return { failure: serializeError(error, 'A transfer failed unexpectedly.') };
}

function send(message: TransferMessage): void {
  channel.send(message);
}
