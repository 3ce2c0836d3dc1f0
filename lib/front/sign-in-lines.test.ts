import { afterAll, beforeAll, expect, test } from 'vitest';
import { firstAdmin, tokenOf, visitor } from '../testing/people.ts';
import { startServer, type TestServer } from '../testing/server.ts';
import { signInLines } from './sign-in-lines.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const LINK = /^Sign in: (http:\/\/dock\.test\/signin\?token=\S+)$/;

test('a first start prints the link of the first admin wherever it prints, a later one only to a terminal', async () => {
  const { auth } = server.host;
  for (const isTerminal of [true, false]) {
    const [line, note] = await signInLines(auth, 'http://dock.test', isTerminal);
    const token = tokenOf(LINK.exec(line ?? '')?.[1] ?? '');
    expect(await auth.signIns.offerOf(token)).toMatchObject({ first: true, role: 'admin' });
    expect(note).toContain('first admin');
  }
  await firstAdmin(auth);
  expect(await signInLines(auth, 'http://dock.test', false)).toEqual(['Sign in: http://dock.test/signin']);
  const [line, note] = await signInLines(auth, 'http://dock.test', true);
  expect(note).toContain('new password');
  const token = tokenOf(LINK.exec(line ?? '')?.[1] ?? '');
  const entered = await auth.signIns.signIn({ token }, visitor());
  expect(entered?.person).toMatchObject({ email: 'ada@example.com', role: 'admin' });
});
