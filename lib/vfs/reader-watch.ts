/**
 * The second thread of a reader process: ends the process when its server is gone, whatever the first thread is doing.
 */
import { workerData } from 'node:worker_threads';

const INTERVAL_MS = 500;

setInterval(() => {
  if (process.ppid !== workerData.server) process.kill(process.pid, 'SIGKILL');
}, INTERVAL_MS);
