/**
 * A worker that can hang: for good on SIGUSR2, and with the argument `trim` as soon as it is asked to give memory back.
 * Everything else is the real worker.
 */
import { syncBuiltinESMExports } from 'node:module';
import v8 from 'node:v8';

function hang(): never {
  for (;;) {
    // Answers nothing, whatever comes.
  }
}

process.on('SIGUSR2', hang);
if (process.argv[2] === 'trim') {
  // Every message of the server passes here.
  const { deserialize } = v8;
  v8.deserialize = (bytes) => {
    const message = deserialize(bytes);
    if (message.type === 'trim') hang();
    return message;
  };
  syncBuiltinESMExports();
}
await import('../../guest/worker/worker.ts');
