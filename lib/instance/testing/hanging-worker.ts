/**
 * A worker that can hang: for good on SIGUSR2, and with the argument `trim` as soon as it is asked to give memory back.
 * Everything else is the real worker.
 */
import '../worker/worker.ts';

function hang(): never {
  for (;;) {
    // Answers nothing, whatever comes.
  }
}

process.on('SIGUSR2', hang);
if (process.argv[2] === 'trim') {
  const [first] = process.listeners('message');
  process.removeAllListeners('message');
  process.on('message', (message, handle) => {
    if (typeof message === 'object' && message !== null && 'type' in message && message.type === 'trim') hang();
    first?.(message, handle);
  });
}
