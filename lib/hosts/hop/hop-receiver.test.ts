/** What another host may not be made to answer: each attack by itself, and receivers that lack a rule. */
import { describe, expect, test } from 'vitest';
import { newSigningKey, type Signer, signerOf } from '../../base/signing.ts';
import type { OtherHost } from '../whereabouts.ts';
import { hashOf } from './hop-body.ts';
import { HopClock, WINDOW_MS } from './hop-clock.ts';
import { crossingHeaders, HOP_HEADER } from './hop-headers.ts';
import { ARRIVAL_RULES, HopReceiver } from './hop-receiver.ts';
import { type HopStatement, parseClock, sealStatement } from './hop-statement.ts';

const keyOf = (name: string) => signerOf(newSigningKey(), name);
const SIGNERS = { one: keyOf('one'), two: keyOf('two'), three: keyOf('three'), stranger: keyOf('stranger') };
const BODY = Buffer.from('{"command":"true"}');

/** Host two, which is asked, and the rows that it sees. */
function asked({
  nowMs,
  judge,
  rules,
}: {
  nowMs?: () => number;
  judge?: HopClock['judge'];
  rules?: typeof ARRIVAL_RULES;
} = {}) {
  const rows = new Map<string, OtherHost>();
  for (const name of ['one', 'three'] as const) {
    rows.set(name, { host: name, url: `http://${name}`, term: 4, publicKey: SIGNERS[name].issuer });
  }
  const clock = new HopClock(nowMs);
  if (judge !== undefined) clock.judge = judge;
  const places = { self: { name: 'two', term: 7 }, host: (name: string) => rows.get(name) ?? null };
  return { rows, clock, receiver: new HopReceiver({ places, signer: SIGNERS.two, clock, ...(rules && { rules }) }) };
}

interface Sent {
  method: string;
  target: string;
  headers: Record<string, string>;
}

const CALL = { method: 'POST', target: '/api/instances/a/exec?x=1', headers: { 'content-type': 'application/json' } };
let nonces = 0;

/** A request of host one as host two gets it. */
function sent(clock: HopClock, said: Partial<HopStatement> = {}, by: Signer = SIGNERS.one, call: Sent = CALL): Sent {
  nonces += 1;
  const statement: HopStatement = {
    ...{ from: 'one', to: 'two', term: 7, epoch: clock.epoch, atMs: clock.nowMs, nonce: `the nonce number ${nonces}` },
    ...{ caller: { actor: 'key:abc', session: null, proof: null }, address: '192.0.2.1', origin: { host: 'dock' } },
    ...{ body: hashOf(BODY), length: BODY.length },
    ...said,
  };
  return { ...call, headers: { ...call.headers, [HOP_HEADER]: sealStatement(statement, call, by) } };
}

const receive = (receiver: HopReceiver, { method, target, headers }: Sent) => receiver.receive(method, target, headers);

/** Opens a statement, changes it, and closes it under the same signature. */
function retold(request: Sent, change: (said: HopStatement) => unknown): Sent {
  const [text = '', signature = ''] = String(request.headers[HOP_HEADER]).split('.');
  const said = JSON.parse(Buffer.from(text, 'base64url').toString()) as HopStatement;
  const again = Buffer.from(JSON.stringify(change(said))).toString('base64url');
  return { ...request, headers: { ...request.headers, [HOP_HEADER]: `${again}.${signature}` } };
}

test('what a host signed for this one is taken, with who asks and for which client', () => {
  const { receiver, clock } = asked();
  expect(receive(receiver, sent(clock))).toEqual({
    from: 'one',
    caller: { actor: 'key:abc', session: null, proof: null },
    address: '192.0.2.1',
    origin: { host: 'dock' },
    proof: { body: hashOf(BODY), length: BODY.length, nonce: expect.any(String), publicKey: SIGNERS.one.issuer },
  });
});

type Attack = (at: ReturnType<typeof asked>) => Sent;

/** Requests that are refused for good, each for its own reason. */
const ATTACKS: Record<string, Attack> = {
  'nothing that is a statement': () => ({ ...CALL, headers: { [HOP_HEADER]: 'yes' } }),
  'a statement without a signature': ({ clock }) => {
    const request = sent(clock);
    const [text = ''] = String(request.headers[HOP_HEADER]).split('.');
    return { ...request, headers: { ...request.headers, [HOP_HEADER]: `${text}.` } };
  },
  'a key that is nobody’s': ({ clock }) => sent(clock, {}, SIGNERS.stranger),
  'a third host that says to be the first one': ({ clock }) => sent(clock, {}, SIGNERS.three),
  'a host that nobody knows': ({ clock }) => sent(clock, { from: 'stranger' }, SIGNERS.stranger),
  'a host that was removed': ({ clock, rows }) => {
    rows.delete('one');
    return sent(clock);
  },
  'a host whose key is another one now': ({ clock, rows }) => {
    rows.set('one', { host: 'one', url: 'http://one', term: 5, publicKey: keyOf('one again').issuer });
    return sent(clock);
  },
  'a request for a third host': ({ clock }) => sent(clock, { to: 'three' }),
  'a request for this host under a former term': ({ clock }) => sent(clock, { term: 6 }),
  'another method': ({ clock }) => ({ ...sent(clock), method: 'DELETE' }),
  'another path': ({ clock }) => ({ ...sent(clock), target: '/api/instances/b/exec?x=1' }),
  'another query': ({ clock }) => ({ ...sent(clock), target: '/api/instances/a/exec?x=2' }),
  'another header': ({ clock }) => {
    const request = sent(clock);
    return { ...request, headers: { ...request.headers, 'content-type': 'text/plain' } };
  },
  'a further header': ({ clock }) => {
    const request = sent(clock);
    return { ...request, headers: { ...request.headers, 'idempotency-key': 'mine' } };
  },
  'a header that is missing': ({ clock }) => {
    const { 'content-type': _type, ...headers } = sent(clock).headers as Record<string, string>;
    return { ...CALL, headers };
  },
  'another caller': ({ clock }) => {
    const caller = { actor: 'key:admin', session: null, proof: null };
    return retold(sent(clock), (said) => ({ ...said, caller }));
  },
  'another body': ({ clock }) => retold(sent(clock), (said) => ({ ...said, body: hashOf(Buffer.from('other')) })),
  'another address': ({ clock }) => retold(sent(clock), (said) => ({ ...said, address: '127.0.0.1' })),
  'another time': ({ clock }) => retold(sent(clock), (said) => ({ ...said, atMs: said.atMs + 1 })),
  'another nonce': ({ clock }) => retold(sent(clock), (said) => ({ ...said, nonce: `${said.nonce}.` })),
  'a member that no statement has': ({ clock }) => sent(clock, { rights: 'admin' } as Partial<HopStatement>),
  'a request that came before': ({ clock, receiver }) => {
    const request = sent(clock);
    expect(receive(receiver, request)).toHaveProperty('from');
    return request;
  },
};

test.each(Object.entries(ATTACKS))('refused: %s', (_name, attack) => {
  const at = asked();
  expect(receive(at.receiver, attack(at))).toHaveProperty('refused');
});

test.each([
  ['a request that was kept back for longer than the window', WINDOW_MS + 1, {}],
  ['a request of a time to come', 0, { atMs: WINDOW_MS + 1 }],
  ['a request for a former start of this host', 0, { epoch: 'of a former start' }],
])('not taken, and answered with the clock of this host: %s', (_what, laterMs, said) => {
  let nowMs = 0;
  const at = asked({ nowMs: () => nowMs });
  const request = sent(at.clock, { nonce: 'of this one request', ...said });
  nowMs += laterMs;
  const verdict = receive(at.receiver, request);
  const shown = 'clock' in verdict ? verdict.clock : '';
  const own = { nonce: 'of this one request', publicKey: SIGNERS.two.issuer };
  expect(parseClock(shown, own)).toEqual({ epoch: at.clock.epoch, nowMs: Math.round(at.clock.nowMs) });
  // Nobody else makes whoever asks believe another time, nor an answer to another request.
  expect(parseClock(shown, { ...own, publicKey: SIGNERS.three.issuer })).toBeNull();
  expect(parseClock(shown, { ...own, nonce: 'of another one request' })).toBeNull();
  expect(parseClock(shown.replace(/\.\d+\./, '.9999999.'), own)).toBeNull();
  expect(parseClock('', own)).toBeNull();
});

test('a client’s headers of one connection, of proxies and of the hop itself do not cross', () => {
  const sentBy = {
    connection: 'keep-alive, x-mine',
    'x-mine': '1',
    'keep-alive': 'timeout=5',
    te: 'trailers',
    upgrade: 'websocket',
    'proxy-authorization': 'Basic x',
    'transfer-encoding': 'chunked',
    host: 'dock',
    'x-forwarded-for': '10.0.0.1',
    'x-winterdock-hop': 'forged',
    'x-winterdock-hop-answer': 'moved',
    'x-winterdock-peer': '10.0.0.1',
    'x-winterdock-inner': 'guess',
    range: 'bytes=0-1',
    'idempotency-key': 'mine',
    'x-winterdock-client': 'cli',
  };
  expect(crossingHeaders(sentBy)).toEqual({
    range: 'bytes=0-1',
    'idempotency-key': 'mine',
    'x-winterdock-client': 'cli',
  });
});

describe('a rule that is left out is found', () => {
  const letThrough = (make: () => ReturnType<typeof asked>) =>
    Object.entries(ATTACKS).flatMap(([name, attack]) => {
      const at = make();
      return 'from' in receive(at.receiver, attack(at)) ? [name] : [];
    });

  test.each(ARRIVAL_RULES.map(({ why }) => why))('where it is not asked whether %s', (left) => {
    const rules = ARRIVAL_RULES.filter(({ why }) => why !== left);
    expect(letThrough(() => asked({ rules }))).not.toEqual([]);
  });

  test('where nonces are not kept', () => {
    const forgetful = () => {
      const judge: HopClock['judge'] = ({ epoch }) => (epoch === '' ? 'stale' : 'fresh');
      return asked({ judge });
    };
    expect(letThrough(forgetful)).toEqual(['a request that came before']);
  });

  test('and with all rules nothing is let through', () => {
    expect(letThrough(() => asked())).toEqual([]);
  });
});
