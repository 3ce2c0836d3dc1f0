/** `dd` and `install`. */
import { Answers } from './answers.ts';
import { copyTargets, copyTo } from './file-copy.ts';
import { parseMode } from './file-words.ts';
import { type CommandCall, CommandEnd, inQuotes, marked, type OwnCommand, reasonOf } from './own-command.ts';
import { deviceOf, MAX_DEVICE_BYTES } from './producers.ts';

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  c: 1,
  w: 2,
  b: 512,
  k: 1024,
  K: 1024,
  M: 1024 ** 2,
  G: 1024 ** 3,
  kB: 1000,
  MB: 1e6,
  GB: 1e9,
  KiB: 1024,
  MiB: 1024 ** 2,
};

function numberOf(call: CommandCall, text: string): number {
  const parts = text.split('x').map((part) => {
    const [, digits, unit = ''] = /^(\d+)([A-Za-z]*)$/.exec(part) ?? [];
    const size = UNITS[unit];
    if (digits === undefined || size === undefined) call.end(`invalid number: ${marked(text)}`);
    return Number(digits) * size;
  });
  return parts.reduce((product, part) => product * part, 1);
}

export const dd: OwnCommand = {
  async main(call: CommandCall) {
    const given = new Map<string, string>();
    for (const arg of call.args) {
      const at = arg.indexOf('=');
      const name = arg.slice(0, at);
      if (
        !['if', 'of', 'bs', 'ibs', 'obs', 'count', 'skip', 'seek', 'conv', 'status', 'iflag', 'oflag', 'cbs'].includes(
          name,
        )
      )
        call.usage(`unrecognized operand ${marked(arg)}`);
      given.set(name, arg.slice(at + 1));
    }
    const number = (name: string, otherwise: number) => {
      const text = given.get(name);
      return text === undefined ? otherwise : numberOf(call, text);
    };
    const block = number('bs', number('ibs', 512));
    if (block === 0) call.end('invalid number: ‘0’');
    const count = number('count', Number.POSITIVE_INFINITY);
    const conversions = (given.get('conv') ?? '').split(',');
    const from = given.get('if') ?? '-';
    let content: Buffer;
    try {
      const device = count === Number.POSITIVE_INFINITY ? null : deviceOf(call, from);
      if (device !== null && count * block > MAX_DEVICE_BYTES)
        call.end(`cannot read ${count * block} bytes of a device: ${MAX_DEVICE_BYTES} at most`);
      content =
        device === null
          ? (await call.input(from)).subarray(number('skip', 0) * block).subarray(0, count * block)
          : device(count * block);
    } catch (error) {
      if (error instanceof CommandEnd) throw error;
      return call.end(`failed to open ${inQuotes(from)}: ${reasonOf(error)}`);
    }
    if (conversions.includes('ucase'))
      content = Buffer.from(
        content.toString('latin1').replaceAll(/[a-z]/g, (one) => one.toUpperCase()),
        'latin1',
      );
    if (conversions.includes('lcase'))
      content = Buffer.from(
        content.toString('latin1').replaceAll(/[A-Z]/g, (one) => one.toLowerCase()),
        'latin1',
      );
    const to = given.get('of');
    if (to === undefined) call.print(content);
    else {
      try {
        await call.changes.writeFile(
          call.path(to),
          placed(
            call,
            to,
            content,
            number('seek', 0) * number('bs', number('obs', 512)),
            conversions.includes('notrunc'),
          ),
        );
      } catch (error) {
        call.end(`failed to open ${inQuotes(to)}: ${reasonOf(error)}`);
      }
    }
    if (given.get('status') !== 'none') {
      const records = `${Math.floor(content.length / block)}+${content.length % block === 0 ? 0 : 1}`;
      call.warn(`${records} records in\n${records} records out\n`);
      if (given.get('status') !== 'noxfer') call.warn(`${content.length} bytes copied, 0 s, 0 kB/s\n`);
    }
    return 0;
  },
};

/** The content of the target: what is before `at` stays, and with `keeps` what is behind. */
function placed(call: CommandCall, to: string, content: Buffer, at: number, keeps: boolean): Buffer {
  const before =
    at > 0 || keeps
      ? call.files.look(call.path(to)) === null
        ? Buffer.alloc(0)
        : call.files.read(call.path(to))
      : Buffer.alloc(0);
  const head = Buffer.concat([before.subarray(0, at), Buffer.alloc(Math.max(0, at - before.length))]);
  return Buffer.concat([head, content, keeps ? before.subarray(at + content.length) : Buffer.alloc(0)]);
}

export const install: OwnCommand = {
  async main(call: CommandCall) {
    const { options, operands } = call.options({
      letters: 'bcCdDg:m:o:psS:t:Tv',
      long: {
        directory: 'd',
        'group=': 'g',
        'mode=': 'm',
        'no-target-directory': 'T',
        'owner=': 'o',
        'preserve-timestamps': 'p',
        strip: 's',
        'suffix=': 'S',
        'target-directory=': 't',
        verbose: 'v',
      },
    });
    const has = (key: string) => options.some((option) => option.key === key);
    const value = (key: string) => options.findLast((option) => option.key === key)?.value ?? null;
    const mode = parseMode(value('m') ?? '755', 0, false);
    if (mode === null) call.end(`invalid mode ${marked(value('m') ?? '')}`);
    if (operands.length === 0) call.usage('missing file operand');
    const madeDirectory = async (name: string, last: boolean) => {
      try {
        await call.changes.mkdir(call.path(name), { recursive: true });
        if (last) await call.changes.chmod(call.path(name), mode);
      } catch (error) {
        call.fail(`cannot create directory ${marked(name)}: ${reasonOf(error)}`);
      }
    };
    if (has('d')) {
      for (const name of operands) await madeDirectory(name, true);
      return undefined;
    }
    const target = value('t') ?? operands.at(-1) ?? '';
    const above = value('t') ?? (target.includes('/') ? target.slice(0, target.lastIndexOf('/')) || '/' : '.');
    if (has('D')) await madeDirectory(above, false);
    for (const [source, to] of copyTargets(call, operands, { directory: value('t'), plain: has('T') })) {
      const before = call.exitCode;
      call.exitCode = 0;
      await copyTo(call, source, to, {
        recursive: false,
        links: 'follow',
        preserveTime: has('p'),
        preserveMode: false,
        noClobber: false,
        update: false,
        asks: false,
        verbose: has('v'),
        removeFirst: true,
        force: false,
        backup: has('b') ? (value('S') ?? '~') : null,
        makes: 'copy',
        onlyAttributes: false,
        answers: new Answers(call),
      });
      if (call.exitCode === 0) await call.changes.chmod(call.path(to), mode);
      call.exitCode = Math.max(before, call.exitCode);
    }
    return undefined;
  },
};
