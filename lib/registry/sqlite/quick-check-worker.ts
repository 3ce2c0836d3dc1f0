/** The thread of the registry's check: one long statement on its own connection. Knows only the file. */
import { parentPort, workerData } from 'node:worker_threads';
import { quickCheck } from './quick-check.ts';

parentPort?.postMessage(quickCheck(String(workerData)));
