/** `assert`. Its messages of what differs show both values whole. */
'use strict';
const { inspect } = require('inspect');
const { isDeepStrictEqual, isDeepEqual, isLooselyEqual } = require('equality');
const { coded, invalid } = require('argument_errors');
const shown = (value) =>
  inspect(value, {
    compact: false,
    customInspect: false,
    depth: 1000,
    maxArrayLength: Number.POSITIVE_INFINITY,
    sorted: true,
    breakLength: Number.POSITIVE_INFINITY,
  });
const TITLES = {
  strictEqual: 'Expected values to be strictly equal:',
  deepStrictEqual: 'Expected values to be strictly deep-equal:',
  equal: 'Expected values to be loosely equal:',
  deepEqual: 'Expected values to be loosely deep-equal:',
  notStrictEqual: 'Expected "actual" to be strictly unequal to:',
  notDeepStrictEqual: 'Expected "actual" not to be strictly deep-equal to:',
  notEqual: 'Expected "actual" to be loosely unequal to:',
  notDeepEqual: 'Expected "actual" not to be loosely deep-equal to:',
};
const SIGNS = { equal: '==', notEqual: '!=', strictEqual: '!==' };
const isPlain = (value) => typeof value !== 'object' && typeof value !== 'function';
/** The lines of both, those of one alone marked. */
function difference(actual, expected) {
  const [left, right] = [shown(actual).split('\n'), shown(expected).split('\n')];
  const lines = [];
  let [a, b] = [0, 0];
  while (a < left.length || b < right.length) {
    if (left[a] === right[b]) {
      lines.push(`  ${left[a]}`);
      a += 1;
      b += 1;
      continue;
    }
    const found = right.indexOf(left[a], b);
    if (a < left.length && (found < 0 || b >= right.length)) lines.push(`+ ${left[a++]}`);
    else lines.push(`- ${right[b++]}`);
  }
  return lines.join('\n');
}
function messageOf({ actual, expected, operator, message }) {
  const title = message === undefined ? (TITLES[operator] ?? 'Failed') : String(message);
  if (operator === 'equal' || operator === 'notEqual')
    return `${inspect(actual)} ${SIGNS[operator]} ${inspect(expected)}`;
  if (operator.startsWith('not'))
    return `${title}${isPlain(actual) ? ` ${inspect(actual)}` : `\n\n${shown(actual)}`}`.replace(/: /, ': ');
  if (isPlain(actual) && isPlain(expected) && operator === 'strictEqual') {
    const [left, right] = [inspect(actual), inspect(expected)];
    if (
      (left !== right && !left.includes('\n') && left.length + right.length <= 32 && typeof actual !== 'string') ||
      left.length + right.length <= 12
    )
      return `${title}\n\n${left} !== ${right}\n`;
    return `${title}\n+ actual - expected\n\n+ ${left}\n- ${right}\n`;
  }
  return `${title}\n+ actual - expected\n\n${difference(actual, expected)}\n`;
}
class AssertionError extends Error {
  constructor(options) {
    const { message, actual, expected, operator } = options ?? {};
    const isShown = message === undefined || operator === 'strictEqual' || operator === 'deepStrictEqual';
    super(isShown ? messageOf({ actual, expected, operator: String(operator), message }) : String(message));
    Object.defineProperty(this, 'name', { value: 'AssertionError', writable: true, configurable: true });
    Object.assign(this, { generatedMessage: message === undefined, code: 'ERR_ASSERTION', actual, expected, operator });
  }
  toString() {
    return `${this.name} [${this.code}]: ${this.message}`;
  }
}
function fail(options, message) {
  if (message instanceof Error) throw message;
  throw new AssertionError({ ...options, message });
}
/** With a message of ours, unless the program has given one. */
function failWith(options, given, message) {
  if (given !== undefined) fail(options, given);
  throw Object.assign(new AssertionError({ ...options, message }), { generatedMessage: true });
}
const compare = (operator, isTrue) =>
  ({
    [operator](...args) {
      const [actual, expected, message] = args;
      if (args.length < 2)
        throw coded(new TypeError('The "actual" and "expected" arguments must be specified'), 'ERR_MISSING_ARGS');
      if (!isTrue(actual, expected)) fail({ actual, expected, operator }, message);
    },
  })[operator];
const assert = (...args) => ok('ok', args);
function ok(_name, args) {
  const [value, message] = args;
  if (value) return;
  if (message instanceof Error) throw message;
  throw Object.assign(
    new AssertionError({
      message:
        args.length === 0
          ? 'No value argument passed to `assert.ok()`'
          : (message ?? 'The expression evaluated to a falsy value'),
      actual: value,
      expected: true,
      operator: '==',
    }),
    { generatedMessage: message === undefined },
  );
}
/** Whether an error is the one that was expected; throws when it is not. */
function requireExpected(error, expected, message, operator) {
  if (expected === undefined) return;
  if (typeof expected === 'function') {
    if (expected.prototype !== undefined && error instanceof expected) return;
    if (expected.prototype instanceof Error || expected === Error) {
      failWith(
        { actual: error, expected, operator },
        message,
        `The error is expected to be an instance of "${expected.name}". Received "${error?.constructor?.name ?? error}"\n\nError message:\n\n${error?.message}`,
      );
    }
    if (expected.call({}, error) === true) return;
    return failWith(
      { actual: error, expected, operator },
      message,
      `The ${expected.name ? `"${expected.name}" ` : ''}validation function is expected to return "true". Received ${inspect(expected.call({}, error))}`,
    );
  }
  if (expected instanceof RegExp) {
    if (expected.test(String(error))) return;
    return failWith(
      { actual: error, expected, operator },
      message,
      `The input did not match the regular expression ${inspect(expected)}. Input:\n\n${inspect(String(error))}\n`,
    );
  }
  const keys = Object.keys(expected);
  if (expected instanceof Error) keys.push('name', 'message');
  for (const key of keys) {
    const isMatch =
      expected[key] instanceof RegExp && typeof error[key] === 'string'
        ? expected[key].test(error[key])
        : isDeepStrictEqual(error?.[key], expected[key]);
    const part = (value) =>
      Object.fromEntries(
        keys
          .filter((name) => value !== null && typeof value === 'object' && name in value)
          .map((name) => [name, value[name]]),
      );
    if (!isMatch)
      failWith(
        { actual: error, expected, operator },
        message,
        `Expected values to be strictly deep-equal:\n+ actual - expected\n\n${difference(part(error), part(expected))}\n`,
      );
  }
}
const outcomeOf = (work) => {
  try {
    work();
    return null;
  } catch (error) {
    return { error };
  }
};
const promised = async (work) => {
  try {
    await (typeof work === 'function' ? work() : work);
    return null;
  } catch (error) {
    return { error };
  }
};
const wanted = (outcome, expected, message, operator) => {
  const text = typeof expected === 'string' ? expected : message;
  const what = typeof expected === 'string' ? undefined : expected;
  if (outcome === null) {
    const kind = operator === 'rejects' ? 'rejection' : 'exception';
    fail(
      { actual: undefined, expected: what, operator },
      text instanceof Error
        ? text
        : `Missing expected ${kind}${what?.name ? ` (${what.name})` : ''}${text ? `: ${text}` : '.'}`,
    );
  }
  requireExpected(outcome.error, what, text, operator);
};
const unwanted = (outcome, expected, message, operator) => {
  if (outcome === null) return;
  const kind = operator === 'doesNotReject' ? 'rejection' : 'exception';
  const text = typeof expected === 'string' ? expected : message;
  fail(
    { actual: outcome.error, expected, operator },
    `Got unwanted ${kind}${text ? `: ${text}` : '.'}\nActual message: "${outcome.error?.message}"`,
  );
};
Object.assign(assert, {
  AssertionError,
  ok: (...args) => ok('ok', args),
  fail(message = 'Failed') {
    if (message instanceof Error) throw message;
    throw Object.assign(new AssertionError({ message, operator: 'fail' }), { generatedMessage: message === 'Failed' });
  },
  equal: compare('equal', isLooselyEqual),
  notEqual: compare('notEqual', (a, b) => !isLooselyEqual(a, b)),
  strictEqual: compare('strictEqual', Object.is),
  notStrictEqual: compare('notStrictEqual', (a, b) => !Object.is(a, b)),
  deepEqual: compare('deepEqual', isDeepEqual),
  notDeepEqual: compare('notDeepEqual', (a, b) => !isDeepEqual(a, b)),
  deepStrictEqual: compare('deepStrictEqual', isDeepStrictEqual),
  notDeepStrictEqual: compare('notDeepStrictEqual', (a, b) => !isDeepStrictEqual(a, b)),
  throws(work, expected, message) {
    if (typeof work !== 'function') throw invalid('fn', 'of type function', work);
    wanted(outcomeOf(work), expected, message, 'throws');
  },
  doesNotThrow(work, expected, message) {
    unwanted(outcomeOf(work), expected, message, 'doesNotThrow');
  },
  async rejects(work, expected, message) {
    wanted(await promised(work), expected, message, 'rejects');
  },
  async doesNotReject(work, expected, message) {
    unwanted(await promised(work), expected, message, 'doesNotReject');
  },
  ifError(error) {
    if (error !== null && error !== undefined)
      throw Object.assign(
        new AssertionError({
          message: `ifError got unwanted exception: ${error.message ?? inspect(error)}`,
          actual: error,
          expected: null,
          operator: 'ifError',
        }),
      );
  },
  match(text, pattern, message) {
    if (typeof text !== 'string' || !pattern.test(text))
      failWith(
        { actual: text, expected: pattern, operator: 'match' },
        message,
        typeof text === 'string'
          ? `The input did not match the regular expression ${inspect(pattern)}. Input:\n\n${inspect(text)}\n`
          : `The "string" argument must be of type string. Received ${typeof text} (${inspect(text)})`,
      );
  },
  doesNotMatch(text, pattern, message) {
    if (pattern.test(text))
      failWith(
        { actual: text, expected: pattern, operator: 'doesNotMatch' },
        message,
        `The input was expected to not match the regular expression ${inspect(pattern)}. Input:\n\n${inspect(text)}\n`,
      );
  },
});
assert.strict = Object.assign((...args) => ok('ok', args), assert, {
  equal: assert.strictEqual,
  deepEqual: assert.deepStrictEqual,
  notEqual: assert.notStrictEqual,
  notDeepEqual: assert.notDeepStrictEqual,
});
assert.strict.strict = assert.strict;
module.exports = assert;
