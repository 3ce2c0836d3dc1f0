/**
 * Process entry of an Instance: one VFS file, the interpreters over it, and the messages of protocol.ts. It serves one sandbox and
 * ends with it. Knows nothing of rows, drawers or HTTP.
 */
import { DefenseInDepthBox } from 'just-bash';
import { WinterdockError } from '../errors.ts';
import { answerRead } from '../vfs/answer.ts';
import type { ReadRequest } from '../vfs/read.ts';
import { closeToRest, openLive, type Vfs } from '../vfs/vfs.ts';
import { evaluate } from './evaluate.ts';
import type { WriteOperation, WriteOutcome } from './instance.ts';
import { Output } from './output.ts';
import { DEFAULT_POLICY, profileOf } from './policies.ts';
import { type Call, type FromInstance, failureOf, type ToInstance, toInstanceSchema } from './protocol.ts';
import { Shell } from './shell.ts';

function send(message: FromInstance): void {
  // The parent is gone when the channel is: then so is this process.
  process.send?.(message, undefined, undefined, (error) => {
    if (error) process.exit(1);
  });
}

const scratch = openLive(':memory:', { maxBytes: 1024 * 1024, maxFileBytes: 1024, mustExist: false });
const warmProfile = profileOf(DEFAULT_POLICY);
// Activated once for the life of the process: activating it for every script costs twenty times as much as running `true`.
DefenseInDepthBox.getInstance(true).activate();
const warm = new Shell(scratch, warmProfile);
await warm.run(
  { kind: 'exec', command: 'true', timeoutMs: 1000, streaming: false },
  new Output(),
  new AbortController().signal,
);

let vfs: Vfs = scratch;
let shell = warm;
let profile = warmProfile;
let running: { id: number; abort: AbortController } | null = null;

function open(spec: Extract<ToInstance, { type: 'open' }>['spec']): void {
  vfs = openLive(spec.file, spec);
  profile = profileOf(spec.policy);
  if (profile.name === warmProfile.name) shell.show(vfs);
  else shell = new Shell(vfs, profile);
  send({ type: 'opened' });
}

function write(operation: WriteOperation): WriteOutcome {
  if (operation.op === 'put') {
    return vfs.put(operation.path, operation.content, operation.volume, { condition: operation.condition });
  }
  if (operation.op === 'delete') {
    const removed = vfs.delete(operation.path, operation.volume, { condition: operation.condition });
    if (!removed) {
      throw new WinterdockError('not_found', `There is no file "${operation.path}" in ${operation.volume}.`);
    }
  } else {
    const { volume, from, to } = operation;
    vfs.move({ volume, path: from }, { volume, path: to });
  }
  return { created: false, stat: null };
}

/** Runs something of another request: what a running script wrote so far is committed before, so that no answer waits on it. */
function between<T>(work: () => T): T {
  const open = vfs.inTransaction;
  if (open) vfs.commit();
  try {
    return work();
  } finally {
    if (open) vfs.begin();
  }
}

async function run(id: number, call: Call): Promise<void> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), call.timeoutMs);
  running = { id, abort };
  const started = performance.now();
  vfs.begin();
  try {
    const result =
      call.kind === 'exec'
        ? await shell.run(
            call,
            new Output(call.streaming ? ({ stream, text }) => send({ type: 'output', id, stream, text }) : undefined),
            abort.signal,
          )
        : await evaluate(call, { vfs, shell, profile, signal: abort.signal });
    vfs.commit();
    const tookMs = Math.round((performance.now() - started) * 100) / 100;
    send({ type: 'done', id, result: { ...result, tookMs } });
  } finally {
    clearTimeout(timer);
    running = null;
    if (vfs.inTransaction) vfs.rollback();
  }
}

async function handle(message: ToInstance): Promise<void> {
  switch (message.type) {
    case 'open':
      return open(message.spec);
    case 'call':
      return run(message.id, message.call);
    case 'abort':
      if (running?.id === message.id) running.abort.abort();
      return;
    case 'write':
      return send({ type: 'done', id: message.id, result: between(() => write(message.operation)) });
    case 'read':
      return send({
        type: 'done',
        id: message.id,
        result: between(() => answerRead(vfs, message.request as ReadRequest)),
      });
    case 'close':
      closeToRest(vfs);
      return send({ type: 'closed' });
  }
}

process.on('message', (raw) => {
  const message = toInstanceSchema.parse(raw);
  handle(message).catch((error) =>
    send({ type: 'failed', id: 'id' in message ? message.id : null, failure: failureOf(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
send({ type: 'ready' });
