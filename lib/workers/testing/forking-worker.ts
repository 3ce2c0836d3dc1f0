/**
 * A worker that was taken over: on SIGUSR2 it forks twice what takes as many bytes as its argument says, so that the
 * parent of that has ended. Everything else is the real worker.
 */
import { spawn } from 'node:child_process';

const [, , bytes = '0'] = process.argv;
const TAKES = `fork() and exit; my $taken = 'x' x $ARGV[0]; sleep 60`;

process.on('SIGUSR2', () => spawn('/usr/bin/perl', ['-e', TAKES, bytes], { stdio: 'ignore' }));
await import('../../guest/worker/worker.ts');
