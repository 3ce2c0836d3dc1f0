/**
 * The engine's life in a process: reads the settings, takes the data folder, starts the engine, lets a front serve, and
 * owns the signals and the end. Knows no HTTP.
 */
import { enableCompileCache } from 'node:module';
import { cookieRules } from '../auth/cookies.ts';
import { refuseUnfinishedRestore } from '../backup/unfinished.ts';
import { type Config, readConfig, unknownSettings } from '../base/config.ts';
import { messageOf } from '../base/errors.ts';
import { createLogger, outliveOutput } from '../base/log.ts';
import { createHost, type Host, setHost } from '../host/host.ts';
import { serverCodeFolder } from '../instance/compiled.ts';
import { takeConsole } from './console-log.ts';
import { lockStores } from './lock.ts';
import { exitCodeFor, whyNotStarted } from './start-problems.ts';
import { waysIn } from './ways-in.ts';

/** What a stop may take beyond the time that running calls are given. */
export const STOP_MS = 5000;
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** What lets people in: an HTTP server with a front. */
interface Serving {
  /** Port that it listens on. */
  readonly port: number;
  /** Takes no more connections, lets answers under way finish for `graceMs`, then cuts them. */
  close(graceMs: number): Promise<void>;
}

interface LifeOptions {
  /** Whether there are pages. */
  hasConsole: boolean;
  /** Whether they come from their sources. */
  dev: boolean;
  /** Starts the engine when it is ready to, then serves. What it throws ends the process, told in a sentence. */
  serve(host: Host): Promise<Serving>;
}

/** Says one thing about a start that cannot be, and ends. */
export function refuse(why: string, exitCode = 1): never {
  process.stderr.write(`${why}\n`);
  process.exit(exitCode);
}

function settings(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    return refuse(messageOf(error));
  }
}

/** Runs the engine until a signal. Resolves when it serves; ends the process when it cannot. */
export async function live({ hasConsole, dev, serve }: LifeOptions): Promise<void> {
  // Whatever is written, by this process and by those it starts, is its owner's alone.
  process.umask(0o077);
  outliveOutput();
  for (const unknown of unknownSettings(process.env)) process.stderr.write(`${unknown}\n`);
  const config = settings();
  const log = createLogger(config.logLevel);
  if (!dev) takeConsole(log);
  let host: Host | null = null;
  let serving: Serving | null = null;
  let unlock = () => {};
  let stopping = false;

  const stop = async (exitCode: number): Promise<void> => {
    if (stopping) process.exit(exitCode === 0 ? 130 : exitCode);
    stopping = true;
    const deadline = setTimeout(() => {
      log.error('the stop took too long and was cut short');
      process.exit(1);
    }, config.drainMs + STOP_MS);
    host?.events.close();
    const closed = serving?.close(config.drainMs + STOP_MS - 500);
    await host?.stop();
    await closed;
    unlock();
    clearTimeout(deadline);
    process.exit(exitCode);
  };
  const stopFor = (exitCode: number) => {
    stop(exitCode).catch((error: unknown) => {
      log.fatal({ err: error }, 'the stop failed');
      process.exit(1);
    });
  };
  for (const signal of SIGNALS) {
    // Next's own would wait for streams that never end.
    process.removeAllListeners(signal);
    process.on(signal, () => stopFor(0));
  }
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'a rejection that nobody handled'));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'an error that nobody caught: the server stops');
    stopFor(1);
  });

  try {
    unlock = lockStores(config);
    refuseUnfinishedRestore(config.dataFolder);
    // Compiled code of the server and, through the environment, of its readers: three times as quick a start, half the
    // memory.
    process.env.NODE_COMPILE_CACHE ??= serverCodeFolder(config.cacheFolder);
    enableCompileCache(process.env.NODE_COMPILE_CACHE);
    host = await createHost({ config, log, tell: (line) => void process.stderr.write(`${line}\n`) });
  } catch (error) {
    log.debug({ err: error }, 'the start failed');
    return refuse(whyNotStarted(error, config), exitCodeFor(error));
  }
  setHost(host);
  try {
    serving = await serve(host);
    await announce(host, serving.port, hasConsole);
  } catch (error) {
    process.stderr.write(`${whyNotStarted(error, config)}\n`);
    log.debug({ err: error }, 'the start failed');
    stopFor(1);
  }
}

/** Where this very process answers. */
export function originOf({ host }: Config, port: number): string {
  const address = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

const NOT_SECURE = `This address is neither https nor the machine's own: what is sent here, keys and sessions included, can be read on the way, and browsers
would refuse cookies that are Secure. Put a proxy with TLS in front and set WB_PUBLIC_URL to its https address.
`;

/** Tells the person, and on the last line the program, that started it. */
async function announce(host: Host, port: number, hasConsole: boolean): Promise<void> {
  const { config } = host;
  const everywhere = config.host === '0.0.0.0' || config.host === '::' || config.host === '127.0.0.1';
  const name = everywhere ? 'localhost' : config.host.includes(':') ? `[${config.host}]` : config.host;
  const origin = config.publicUrl ?? `http://${name}:${port}`;
  const lines = [`Winterdock serves ${origin}`];
  if (hasConsole) lines.push(...(await waysIn(host.auth, origin, process.stdout.isTTY ?? false)));
  if (config.adminKey === null) lines.push(`Key:     ${config.dataFolder}/admin.key`);
  if (!cookieRules(config).secure) process.stderr.write(NOT_SECURE);
  process.stdout.write(`${lines.join('\n')}\nready ${originOf(config, port)}\n`);
}
