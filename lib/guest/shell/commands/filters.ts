/** `tsort`, `envsubst`, `dos2unix`, `unix2dos`, `sum`: small filters of text. */
import { type CommandCall, marked, type OwnCommand, reasonOf } from './own-command.ts';
import { replaceFile } from './replaced-file.ts';
import { textInputs } from './text-inputs.ts';

export const tsort: OwnCommand = {
  async main(call: CommandCall) {
    const { operands } = call.options({ letters: '' });
    if (operands[1] !== undefined) call.usage(`extra operand ${marked(operands[1])}`);
    const [name = '-'] = operands;
    for await (const { bytes } of textInputs(call, [name])) {
      const words = bytes
        .toString('latin1')
        .split(/[ \t\n]+/)
        .filter((word) => word !== '');
      if (words.length % 2 === 1) call.end(`${name}: input contains an odd number of tokens`);
      printSorted(call, name, words);
    }
    return undefined;
  },
};

/** Kahn's order: what nothing stands in front of comes first, as it was read. */
function printSorted(call: CommandCall, name: string, words: readonly string[]): void {
  const before = new Map<string, number>();
  const after = new Map<string, string[]>();
  for (const word of words) {
    if (!before.has(word)) before.set(word, 0);
    if (!after.has(word)) after.set(word, []);
  }
  for (let at = 0; at < words.length; at += 2) {
    const [first = '', second = ''] = words.slice(at, at + 2);
    if (first === second) continue;
    after.get(first)?.push(second);
    before.set(second, (before.get(second) ?? 0) + 1);
  }
  const ready = [...before].flatMap(([word, count]) => (count === 0 ? [word] : []));
  const printed = new Set<string>();
  while (printed.size < before.size) {
    if (ready.length === 0) {
      const loop = loopOf(after, printed);
      call.fail(`${name}: input contains a loop:`);
      for (const word of loop) call.fail(word);
      const [first = ''] = loop;
      ready.push(first);
    }
    for (const word of ready) {
      if (printed.has(word)) continue;
      printed.add(word);
      call.print(Buffer.from(`${word}\n`, 'latin1'));
      for (const next of (after.get(word) ?? []).toReversed()) {
        const left = (before.get(next) ?? 0) - 1;
        before.set(next, left);
        if (left === 0) ready.push(next);
      }
    }
    ready.length = 0;
  }
}

function loopOf(after: ReadonlyMap<string, readonly string[]>, printed: ReadonlySet<string>): string[] {
  const path: string[] = [];
  let at = [...after.keys()].find((word) => !printed.has(word)) ?? '';
  const hasNext = (word: string) => (after.get(word) ?? []).find((next) => !printed.has(next));
  while (!path.includes(at)) {
    path.push(at);
    const next = hasNext(at);
    // It only stands behind the loop.
    if (next === undefined)
      return [...after].flatMap(([word, list]) => (list.includes(at) && !printed.has(word) ? [word] : []));
    at = next;
  }
  return path.slice(path.indexOf(at));
}

const VARIABLE = /\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})/g;

export const envsubst: OwnCommand = {
  like: 'gettext 0.21',
  async main(call: CommandCall) {
    const { options, operands } = call.options({ letters: 'v', long: { variables: 'v' } });
    const [format] = operands;
    const names = (text: string) => [...text.matchAll(VARIABLE)].map(([, plain, braced]) => plain ?? braced ?? '');
    if (operands.length > 1) call.end('too many arguments');
    if (options.length > 0) {
      if (format === undefined) call.end('missing arguments');
      call.print(
        names(format)
          .map((name) => `${name}\n`)
          .join(''),
      );
      return 0;
    }
    const chosen = format === undefined ? null : new Set(names(format));
    const environment = call.context.exportedEnv ?? {};
    const text = (await call.input('-')).toString('latin1');
    const textGiven = (name: string) =>
      Object.hasOwn(environment, name) ? Buffer.from(environment[name] ?? '').toString('latin1') : '';
    const replaced = text.replaceAll(VARIABLE, (whole, plain?: string, braced?: string) => {
      const name = plain ?? braced ?? '';
      return chosen === null || chosen.has(name) ? textGiven(name) : whole;
    });
    call.print(Buffer.from(replaced, 'latin1'));
    return 0;
  },
};

/** `change` is given bytes as Latin-1. */
function lineEndings(change: (text: string) => string, to: string): OwnCommand {
  return {
    like: 'dos2unix 7.4.3',
    async main(call: CommandCall) {
      const { options, operands } = call.options({
        letters: 'fkn:oqsc:',
        long: { force: 'f', keepdate: 'k', 'newfile=': 'n', oldfile: 'o', quiet: 'q', safe: 's' },
      });
      const has = (key: string) => options.some((option) => option.key === key);
      const first = options.findLast(({ key }) => key === 'n')?.value;
      const pairs: [string, string][] =
        typeof first === 'string'
          ? [first, ...operands].flatMap((name, at, all) => (at % 2 === 0 ? [[name, all[at + 1] ?? '']] : []))
          : operands.map((name) => [name, name]);
      if (pairs.length === 0) {
        call.print(Buffer.from(change(call.stdin.toString('latin1')), 'latin1'));
        return 0;
      }
      for (const [name, target] of pairs) {
        await call.turn();
        try {
          if (call.files.info(call.path(name)).kind === 'dir') {
            if (!has('q')) call.warn(`${call.name}: Skipping ${name}, not a regular file.\n`);
            continue;
          }
          const bytes = await call.input(name);
          if (bytes.includes(0) && !has('f')) {
            if (!has('q'))
              call.warn(
                `${call.name}: Binary symbol 0x00 found at line ${lineOfZero(bytes)}\n${call.name}: Skipping binary file ${name}\n`,
              );
            continue;
          }
          if (!has('q'))
            call.warn(
              `${call.name}: converting file ${name} to ${target === name ? '' : `file ${target} in `}${to} format...\n`,
            );
          const changed = Buffer.from(change(bytes.toString('latin1')), 'latin1');
          await replaceFile(call.changes, call.path(target), changed);
        } catch (error) {
          call.fail(`${name}: ${reasonOf(error)}`, 2);
        }
      }
      return undefined;
    },
  };
}

const lineOfZero = (bytes: Buffer) => bytes.subarray(0, bytes.indexOf(0)).filter((byte) => byte === 10).length + 1;

export const dos2unix = lineEndings((text) => text.replaceAll('\r\n', '\n'), 'Unix');
export const unix2dos = lineEndings((text) => text.replaceAll(/(?<!\r)\n/g, '\r\n'), 'DOS');

const BSD_BLOCK = 1024;
const SYSV_BLOCK = 512;

export const sum: OwnCommand = {
  async main(call: CommandCall) {
    const { options, operands } = call.options({ letters: 'rs', long: { sysv: 's' } });
    const isSysv = options.at(-1)?.key === 's';
    for await (const { name, bytes } of textInputs(call, operands)) {
      let checksum = 0;
      for (const byte of bytes)
        checksum = isSysv ? checksum + byte : ((checksum >> 1) + ((checksum & 1) << 15) + byte) & 0xffff;
      if (isSysv) {
        const folded = (checksum & 0xffff) + Math.floor((checksum % 2 ** 32) / 0x10000);
        checksum = (folded & 0xffff) + (folded >> 16);
      }
      const blocks = Math.ceil(bytes.length / (isSysv ? SYSV_BLOCK : BSD_BLOCK));
      const label = operands.length > 1 || (isSysv && operands.length > 0) || operands.length === 1 ? ` ${name}` : '';
      const shown = isSysv
        ? `${checksum} ${blocks}`
        : `${String(checksum).padStart(5, '0')} ${String(blocks).padStart(5)}`;
      call.print(`${shown}${label}\n`);
    }
    return undefined;
  },
};
