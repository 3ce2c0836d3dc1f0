/** `util.parseArgs`. */
'use strict';
const { coded } = require('argument_errors');
const fail = (message, code) => {
  throw coded(new TypeError(message), code);
};
exports.parseArgs = ({
  args = process.argv.slice(2),
  options = {},
  strict = true,
  allowPositionals = !strict,
  allowNegative = false,
  tokens: wantsTokens = false,
} = {}) => {
  const values = Object.create(null);
  const positionals = [];
  const tokens = [];
  const long = (short) => Object.keys(options).find((name) => options[name].short === short);
  const keep = (name, value, shown, index, inlineValue) => {
    const option = options[name];
    if (wantsTokens)
      tokens.push({
        kind: 'option',
        name,
        rawName: shown,
        index,
        value: typeof value === 'string' ? value : undefined,
        inlineValue,
      });
    if (strict && option === undefined)
      fail(
        `Unknown option '${shown}'${allowPositionals ? `. To specify a positional argument starting with a '-', place it at the end of the command after '--', as in '-- "${shown}"` : ''}`,
        'ERR_PARSE_ARGS_UNKNOWN_OPTION',
      );
    const form = `${option?.short ? `-${option.short}, ` : ''}--${name}`;
    if (strict && option.type === 'string' && typeof value !== 'string')
      fail(`Option '${form} <value>' argument missing`, 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE');
    if (strict && option.type === 'boolean' && typeof value === 'string')
      fail(`Option '${form}' does not take an argument`, 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE');
    const kept = value ?? true;
    if (option?.multiple) values[name] = [...(values[name] ?? []), kept];
    else values[name] = kept;
  };
  const queue = [...args];
  let index = -1;
  while (queue.length > 0) {
    const arg = queue.shift();
    index += 1;
    if (arg === '--') {
      if (wantsTokens) tokens.push({ kind: 'option-terminator', index });
      for (const rest of queue) {
        index += 1;
        positionals.push(rest);
        if (wantsTokens) tokens.push({ kind: 'positional', index, value: rest });
      }
      if (!allowPositionals && queue.length > 0)
        fail(
          `Unexpected argument '${queue[0]}'. This command does not take positional arguments`,
          'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL',
        );
      break;
    }
    const takes = (name) => options[name]?.type === 'string' && queue.length > 0 && (!strict || !/^-./.test(queue[0]));
    if (/^--./.test(arg)) {
      const [, name, value] = /^--([^=]+)(?:=([\s\S]*))?$/.exec(arg) ?? [undefined, arg.slice(2), undefined];
      const negated =
        allowNegative && name.startsWith('no-') && options[name.slice(3)]?.type === 'boolean' ? name.slice(3) : null;
      if (negated !== null && value === undefined) keep(negated, false, `--${name}`, index);
      else if (value === undefined && takes(name)) {
        keep(name, queue.shift(), `--${name}`, index, false);
        index += 1;
      } else keep(name, value, `--${name}`, index, value === undefined ? undefined : true);
    } else if (/^-[^-]/.test(arg)) {
      const [short] = arg.slice(1);
      const name = long(short) ?? short;
      const rest = arg.slice(2);
      if (rest === '') {
        if (takes(name)) {
          keep(name, queue.shift(), `-${short}`, index, false);
          index += 1;
        } else keep(name, undefined, `-${short}`, index);
      } else if (options[name]?.type === 'string') keep(name, rest, `-${short}`, index, true);
      else {
        keep(name, undefined, `-${short}`, index);
        queue.unshift(`-${rest}`);
        index -= 1;
      }
    } else {
      if (!allowPositionals)
        fail(
          `Unexpected argument '${arg}'. This command does not take positional arguments`,
          'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL',
        );
      positionals.push(arg);
      if (wantsTokens) tokens.push({ kind: 'positional', index, value: arg });
    }
  }
  for (const [name, option] of Object.entries(options))
    if (option.default !== undefined && values[name] === undefined) values[name] = option.default;
  return wantsTokens ? { values, positionals, tokens } : { values, positionals };
};
