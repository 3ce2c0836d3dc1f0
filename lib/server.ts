/**
 * The process entry: reads the settings, takes the data folder, starts the engine, then the front, and owns the signals.
 * `--api-only` serves no console; `--dev` serves it from its sources.
 */
import './front/needs-node.ts';
import { enableCompileCache } from 'node:module';
import { parseArgs } from 'node:util';
import { cookieRules } from './auth/cookies.ts';
import { refuseUnfinishedRestore } from './backup/unfinished.ts';
import { type Config, readConfig, unknownSettings } from './config.ts';
import { messageOf } from './errors.ts';
import { takeConsole } from './front/console-log.ts';
import { type Listener, listen } from './front/listener.ts';
import { lockStores } from './front/lock.ts';
import { openPages } from './front/pages.ts';
import { tellingSpentLinks } from './front/spent-links.ts';
import { waysIn } from './front/ways-in.ts';
import { exitCodeFor, whyNotStarted } from './front/why-not.ts';
import { createHost, type Host, setHost } from './host.ts';
import { serverCodeFolder } from './instance/compiled.ts';
import { createLogger, outliveOutput } from './log.ts';

/** What a stop may take beyond the time that running calls are given. */
const STOP_MS = 5000;

/** Says one thing about a start that cannot be, and ends. */
function refuse(why: string, exitCode = 1): never {
  process.stderr.write(`${why}\n`);
  process.exit(exitCode);
}

function settings(): { config: Config; apiOnly: boolean; dev: boolean } {
  try {
    const { values } = parseArgs({ options: { 'api-only': { type: 'boolean' }, dev: { type: 'boolean' } } });
    return { config: readConfig(process.env), apiOnly: values['api-only'] ?? false, dev: values.dev ?? false };
  } catch (error) {
    return refuse(messageOf(error));
  }
}

async function main(): Promise<void> {
  // Whatever is written, by this process and by those it starts, is its owner's alone.
  process.umask(0o077);
  outliveOutput();
  for (const unknown of unknownSettings(process.env)) process.stderr.write(`${unknown}\n`);
  const { config, apiOnly, dev } = settings();
  const log = createLogger(config.logLevel);
  if (!dev) takeConsole(log);
  let host: Host | null = null;
  let listener: Listener | null = null;
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
    const closed = listener?.close(config.drainMs + STOP_MS - 500);
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
  process.on('SIGTERM', () => stopFor(0));
  process.on('SIGINT', () => stopFor(0));
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'a rejection that nobody handled'));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'an error that nobody caught: the server stops');
    stopFor(1);
  });

  try {
    unlock = lockStores(config);
    refuseUnfinishedRestore(config.dataFolder);
    // Compiled code of the server and, through the environment, of its readers: three times as quick a start, half the memory.
    process.env.NODE_COMPILE_CACHE ??= serverCodeFolder(config.cacheFolder);
    enableCompileCache(process.env.NODE_COMPILE_CACHE);
    host = await createHost({ config, log, tell: (line) => void process.stderr.write(`${line}\n`) });
  } catch (error) {
    log.debug({ err: error }, 'the start failed');
    return refuse(whyNotStarted(error, config), exitCodeFor(error));
  }
  setHost(host);
  try {
    const opened = apiOnly ? undefined : await openPages({ dev, host: config.host, port: config.port });
    const pages = opened && tellingSpentLinks(opened, host.auth);
    await host.start();
    listener = await listen(host, { port: config.port, address: config.host, pages, dev });
    // Next asks itself for the page that an action leads to: here, whatever port was free and whatever name people use.
    process.env.__NEXT_PRIVATE_ORIGIN = originOf(config, listener.port);
    await announce(host, listener.port, apiOnly);
  } catch (error) {
    process.stderr.write(`${whyNotStarted(error, config)}\n`);
    log.debug({ err: error }, 'the start failed');
    stopFor(1);
  }
}

/** Where this very process answers. */
function originOf({ host }: Config, port: number): string {
  const address = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

const NOT_SECURE = `This address is neither https nor the machine's own: what is sent here, keys and sessions included, can be read on the way, and browsers
would refuse cookies that are Secure. Put a proxy with TLS in front and set WB_PUBLIC_URL to its https address.
`;

/** Tells the person, and on the last line the program, that started it. */
async function announce(host: Host, port: number, apiOnly: boolean): Promise<void> {
  const { config } = host;
  const everywhere = config.host === '0.0.0.0' || config.host === '::' || config.host === '127.0.0.1';
  const name = everywhere ? 'localhost' : config.host.includes(':') ? `[${config.host}]` : config.host;
  const origin = config.publicUrl ?? `http://${name}:${port}`;
  const lines = [`Winterdock serves ${origin}`];
  if (!apiOnly) lines.push(...(await waysIn(host.auth, origin, process.stdout.isTTY ?? false)));
  if (config.adminKey === null) lines.push(`Key:     ${config.dataFolder}/admin.key`);
  if (!cookieRules(config).secure) process.stderr.write(NOT_SECURE);
  process.stdout.write(`${lines.join('\n')}\nready ${originOf(config, port)}\n`);
}

await main();
