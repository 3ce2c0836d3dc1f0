/**
 * The server process: reads the settings, locks the data folder, starts the engine and the HTTP server, and stops them
 * on a signal. Knows no HTTP.
 */
import { enableCompileCache } from 'node:module';
import { cookieRules } from '../auth/cookies.ts';
import { refuseUnfinishedRestore } from '../backup/unfinished-restore.ts';
import { type Config, readConfig, unknownSettings } from '../base/config.ts';
import { messageOf } from '../base/errors.ts';
import { KEY_FILES } from '../base/key-files.ts';
import { createLogger, ignoreOutputErrors } from '../base/log.ts';
import { type Host, setHost } from '../host/host.ts';
import { lacksForSeveral, neededForSeveral } from '../hosts/needs-of-several.ts';
import { registryDriver } from '../registry/drivers.ts';
import { RegistryInUse } from '../registry/registry-errors.ts';
import { foreignFolders } from '../storage/foreign-folders.ts';
import { serverCompileCacheFolder } from '../workers/compile-cache.ts';
import { wallsAtStart } from '../workers/walls/walls.ts';
import { requireStartable } from './before-start.ts';
import { redirectConsole } from './console-redirect.ts';
import { lockStores } from './lock.ts';
import { signInLines } from './sign-in-lines.ts';
import { exitCodeFor, startFailureText } from './start-problems.ts';

/** Milliseconds that a stop may take beyond `WB_DRAIN_MS`, the time for running calls. */
export const STOP_MS = 5000;
/** A terminal that closes, and whoever starts processes for it, each send SIGHUP: a second one says nothing new. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP'] as const;

/** A started HTTP server with a front. */
interface RunningServer {
  /** The port it listens on. */
  readonly port: number;
  /** Stops accepting connections, lets answers under way finish for `graceMs`, then cuts them. */
  close(graceMs: number): Promise<void>;
}

interface ServerProcessOptions {
  /** Whether the console is served. */
  hasConsole: boolean;
  /** Development mode: pages are compiled from their sources. */
  dev: boolean;
  /** Starts the engine, then serves. What it throws ends the process with one sentence. */
  serve(host: Host): Promise<RunningServer>;
}

/** Writes a message to stderr and ends the process. */
export function exitWithMessage(message: string, exitCode = 1): never {
  process.stderr.write(`${message}\n`);
  process.exit(exitCode);
}

function readSettings(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    return exitWithMessage(messageOf(error), exitCodeFor(error));
  }
}

/** Runs the engine until a signal. Resolves when it serves; ends the process when it cannot. */
export async function runServerProcess({ hasConsole, dev, serve }: ServerProcessOptions): Promise<void> {
  // Files that this process and its children create are readable by their owner only.
  process.umask(0o077);
  ignoreOutputErrors();
  for (const unknown of unknownSettings(process.env)) process.stderr.write(`${unknown}\n`);
  const config = readSettings();
  const log = createLogger(config.logLevel);
  if (!dev) redirectConsole(log);
  let host: Host | null = null;
  let server: RunningServer | null = null;
  let unlock = async () => {};
  let stopping = false;

  const stop = async (exitCode: number): Promise<void> => {
    if (stopping) process.exit(exitCode === 0 ? 130 : exitCode);
    stopping = true;
    const deadline = setTimeout(() => {
      log.error('the stop took too long and was cut short');
      process.exit(1);
    }, config.drainMs + STOP_MS);
    host?.events.close();
    const closed = server?.close(config.drainMs + STOP_MS - 500);
    await host?.stop();
    await closed;
    await unlock();
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
    // Next's own handlers would wait for event streams, which never end.
    process.removeAllListeners(signal);
    process.on(signal, () => {
      if (signal !== 'SIGHUP' || !stopping) stopFor(0);
    });
  }
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'a rejection that nobody handled'));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'an error that nobody caught: the server stops');
    stopFor(1);
  });

  const lacks = lacksForSeveral(config);
  const use = { isShared: lacks.length === 0 };
  try {
    const driver = registryDriver(config.registry);
    await requireStartable(config, driver, use);
    const onLost = (why: Error) => {
      log.fatal({ err: why }, 'another server has taken the registry over: this one stops');
      stopFor(1);
    };
    unlock = await lockStores(config, driver, onLost, use);
    refuseUnfinishedRestore(config.dataFolder);
    // The compile cache, for this process and, through the environment, for its reader processes: the start takes a
    // third of the time and half the memory.
    process.env.NODE_COMPILE_CACHE ??= serverCompileCacheFolder(config.cacheFolder);
    enableCompileCache(process.env.NODE_COMPILE_CACHE);
    // Loaded by then: the cache is for the engine most of all.
    const { createHost } = await import('../host/compose.ts');
    const notify = (line: string) => void process.stderr.write(`${line}\n`);
    host = await createHost({ config, driver, log, onLost, notify, isAlone: !use.isShared });
  } catch (error) {
    log.debug({ err: error }, 'the start failed');
    const needed = error instanceof RegistryInUse ? `\n${neededForSeveral(lacks)}` : '';
    return exitWithMessage(startFailureText(error, config) + needed, exitCodeFor(error));
  }
  setHost(host);
  try {
    server = await serve(host);
    await announce(host, server.port, hasConsole);
  } catch (error) {
    process.stderr.write(`${startFailureText(error, config)}\n`);
    log.debug({ err: error }, 'the start failed');
    stopFor(1);
  }
}

/** The URL at which this process itself can be reached. */
export function originOf({ host }: Config, port: number): string {
  const address = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

const NOT_SECURE = `This address is neither https nor local: everything sent to it, keys and sessions included, can be read on the way,
and its cookies cannot be Secure. Put a proxy with TLS in front and set WB_PUBLIC_URL to its https address.
`;

/** Prints the addresses for the person who started it, and last a `ready` line for a program. */
async function announce(host: Host, port: number, hasConsole: boolean): Promise<void> {
  const { config } = host;
  const everywhere = config.host === '0.0.0.0' || config.host === '::' || config.host === '127.0.0.1';
  const name = everywhere ? 'localhost' : config.host.includes(':') ? `[${config.host}]` : config.host;
  const origin = config.publicUrl ?? `http://${name}:${port}`;
  const lines = [`Winterdock serves ${origin}`];
  if (hasConsole) lines.push(...(await signInLines(host.auth, origin, process.stdout.isTTY ?? false)));
  if (config.adminKey === null) lines.push(`Key:     ${config.keysFolder}/${KEY_FILES.admin}`);
  const { text, isWhole } = wallsAtStart(host.walls);
  if (isWhole) lines.push(`Walls:   ${text}`);
  else process.stderr.write(`Walls around sandboxes: ${text}. docs/threat-model.md says what each holds.\n`);
  for (const foreign of foreignFolders(config.dataFolder)) process.stderr.write(`${foreign}\n`);
  if (!cookieRules(config).secure) process.stderr.write(NOT_SECURE);
  process.stdout.write(`${lines.join('\n')}\nready ${originOf(config, port)}\n`);
}
