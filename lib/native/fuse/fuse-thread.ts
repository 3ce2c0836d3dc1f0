/**
 * The thread of a mount: opens the file, answers the kernel until nothing is mounted any more, and puts the file to
 * rest. It waits in the kernel between requests, so nothing else can run in it; whoever wants something of it asks
 * through the mount.
 */
import { serializeError } from '../../base/serialized-error.ts';
import { openNativeFile } from '../file/native-file.ts';
import { nextFrame, sendAnswer } from './device.ts';
import { FuseHandler, MAX_FRAME_BYTES } from './handler.ts';
import type { FromFuseThread, FuseThreadData } from './mounted-file.ts';

// Constants of it are no part of a bundle.
const { parentPort, workerData } = process.getBuiltinModule('node:worker_threads');
const { device, file, maxBytes, mustExist, owner, commitName, flags } = workerData as FuseThreadData;
const say = (message: FromFuseThread) => parentPort?.postMessage(message);

try {
  const native = openNativeFile(file, { maxBytes, mustExist });
  const handler = new FuseHandler({ native, owner, commitName });
  const buffer = Buffer.allocUnsafeSlow(MAX_FRAME_BYTES);
  say({ kind: 'serving' });
  for (let frame = nextFrame(device, buffer); frame !== null; frame = nextFrame(device, buffer)) {
    const answer = handler.handle(frame);
    Atomics.store(flags, 0, native.hasChanges ? 1 : 0);
    if (answer !== null) sendAnswer(device, answer);
  }
  say({ kind: 'closed', identity: native.close() });
} catch (error) {
  say({ kind: 'failed', failure: serializeError(error, 'The file is not served.') });
}
