/**
 * The terminal of a sandbox: what is typed is run, what runs can be stopped, what it shows is ours, and it stays on the
 * server.
 */
import type { Instance, SandboxRun } from '../lib/contract/schema.ts';
import { flaws } from './axe.ts';
import { commandLine, openTerminal, rows, runCommand, seeRow } from './typing.ts';
import { expect, openSession, test, visited } from './visited.ts';

async function moor(id: string, ...verbs: string[]): Promise<void> {
  const { call } = visited();
  await call('POST', '/api/instances', { id, tenant: 'keyboard', name: `Terminal, ${id}` });
  for (const verb of verbs) await call('POST', `/api/instances/${id}/${verb}`, {});
}

const seen = async (id: string) => (await visited().call<Instance>('GET', `/api/instances/${id}`)).json;

test('a frozen sandbox is woken by the first command and not by the tab, its directory is carried, its lines come back', async ({
  page,
}) => {
  await moor('keys', 'resume', 'suspend', 'freeze');
  await openSession(page);
  await openTerminal(page, 'keys');
  await seeRow(page, '/workspace $');
  expect(await seen('keys')).toMatchObject({ state: 'frozen', attached: 0 });

  await runCommand(page, 'mkdir -p deep; cd deep; echo out; echo err >&2; false');
  await seeRow(page, /^↑ woke it from frozen in [\d.]+ m?s$/);
  await seeRow(page, 'out');
  await seeRow(page, '! err');
  await seeRow(page, /^exit 1 · [\d.]+ m?s$/);
  await seeRow(page, '/workspace/deep $');

  await page.keyboard.press('ArrowUp');
  await seeRow(page, /^\/workspace\/deep \$ mkdir .* false$/);
  await page.keyboard.press('Control+u');
  await page.keyboard.type('echo "漢字🙂👍🏽x"');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.type('y');
  await page.keyboard.press('Enter');
  await seeRow(page, '漢字🙂👍🏽yx');

  await page.reload();
  await commandLine(page).focus();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  await seeRow(page, /^\/workspace \$ mkdir .* false$/);
  await page.keyboard.press('Control+c');
  await page.keyboard.type('ls ../de\t');
  await seeRow(page, /\$ ls \.\.\/deep\/$/);
});

test('a new terminal, and one that is switched to, take the keyboard, and what a line exports holds in the next', async ({
  page,
}) => {
  await moor('tabs', 'resume');
  await openSession(page);
  await page.goto('/sandboxes/tabs');
  await page.getByRole('link', { name: 'Terminal', exact: true }).click();
  await seeRow(page, '/workspace $');
  await expect(commandLine(page)).toBeFocused();
  await runCommand(page, 'export FROM=first');
  await page.getByRole('button', { name: 'New terminal' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: 'Terminal 2' })).toHaveAttribute('aria-pressed', 'true');
  await expect(commandLine(page)).toBeFocused();
  await page.keyboard.type('echo "none: $FROM."');
  await page.keyboard.press('Enter');
  await seeRow(page, 'none: .');
  await page.getByRole('button', { name: 'Terminal 1' }).click();
  await seeRow(page, '/workspace $ export FROM=first');
  await expect(page.getByRole('log').locator('p').last()).toContainText(/exit 0/);
  await expect(commandLine(page)).toBeFocused();
  await runCommand(page, 'echo "held: $FROM"; history | grep -c export');
  await seeRow(page, 'held: first');
  await page.getByRole('button', { name: 'Terminal 1' }).click();
  await expect(commandLine(page)).toBeFocused();
  await runCommand(page, 'clear');
  await expect.poll(async () => (await rows(page)).some((row) => row.includes('held'))).toBe(false);
  await expect(page.getByRole('button', { name: /^Terminal \d$/ })).toHaveCount(2);
});

test('control C ends what runs, on the server too, and the sandbox answers at once', async ({ page }) => {
  await moor('stopped', 'resume');
  await openSession(page);
  await openTerminal(page, 'stopped');
  for (const endless of ['echo begun; sleep 300', 'echo begun; while true; do :; done']) {
    await page.keyboard.press('Control+l');
    await page.keyboard.type(endless);
    await page.keyboard.press('Enter');
    await seeRow(page, 'begun');
    await expect(page.getByText(/^runs for [1-9]\d* s$/)).toBeVisible();
    await page.keyboard.press('Control+c');
    await seeRow(page, '^C stopped');
    await expect(page.getByText(/^runs for/)).toHaveCount(0);
    const { json } = await visited().call('POST', '/api/instances/stopped/exec', { command: 'echo back' });
    expect(json).toMatchObject({ exit_code: 0, stdout: 'back\n' });
  }
  await page.keyboard.type('sleep 1; echo again');
  await page.keyboard.press('Enter');
  await page.keyboard.type('echo ahead');
  await page.keyboard.press('Enter');
  await seeRow(page, 'again');
  await seeRow(page, 'ahead');
});

test('a line behind another call says so at once, and Stop ends its wait alone', async ({ page }) => {
  await moor('behind', 'resume');
  const { call } = visited();
  const { json: other } = await call<{ id: string }>('POST', '/api/instances/behind/terminals', {});
  const lines = `/api/instances/behind/terminals/${other.id}/lines`;
  await call('POST', lines, { text: 'echo begun; sleep 300' });
  await openSession(page);
  await openTerminal(page, 'behind');
  await page.getByRole('button', { name: 'New terminal' }).click();
  await expect(page.getByRole('button', { name: 'Terminal 2' })).toHaveAttribute('aria-pressed', 'true');
  await commandLine(page).focus();
  await page.keyboard.type('echo mine');
  await page.keyboard.press('Enter');
  const said =
    /waits behind another shell call, under way for .*: echo begun; sleep 300 · Stop, or Ctrl \+ C, ends the wait/;
  await expect.poll(async () => (await rows(page)).join('')).toMatch(said);
  await expect(page.getByRole('log')).toContainText(said);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await seeRow(page, '^C stopped');
  expect((await call('POST', lines, { text: 'true' })).json).toMatchObject({ code: 'conflict' });
  await call('DELETE', `/api/instances/behind/terminals/${other.id}`);
  await runCommand(page, 'echo mine');
  await seeRow(page, 'mine');
});

test('runs that no terminal shows are listed with the end of their output, and are stopped, also without JavaScript', async ({
  page,
  browser,
}) => {
  await moor('runs', 'resume');
  const { call, url } = visited();
  const begin = (command: string) => call('POST', '/api/instances/runs/runs', { command });
  await begin("printf 'it \\033[31mfailed\\033[0m\\n'; exit 3");
  const runs = async () => (await call<SandboxRun[]>('GET', '/api/instances/runs/runs')).json;
  await expect.poll(async () => (await runs()).map(({ state }) => state)).toEqual(['done']);
  await begin('echo begun; sleep 300');
  await begin('echo other; sleep 301');
  await expect.poll(async () => (await runs()).filter(({ output_bytes }) => output_bytes > 0)).toHaveLength(3);
  await openSession(page);
  await openTerminal(page, 'runs');
  const section = page.getByRole('region', { name: 'Runs' });
  await expect(section.getByRole('listitem')).toHaveCount(3);
  const failed = section.getByRole('listitem').filter({ hasText: /exit 3 · .* · begun by/ });
  await failed.getByText('The end of its output').click();
  await expect(failed.locator('pre')).toHaveText('it failed\n');
  expect(await flaws(page)).toEqual([]);
  const sleeping = section.getByRole('listitem').filter({ hasText: 'sleep 300' });
  await sleeping.getByRole('button', { name: /^Stop/ }).click();
  await expect(sleeping).toContainText('It is stopped.');
  await expect(sleeping).toContainText('stopped: Somebody stopped it');
  await expect(sleeping.getByRole('button')).toHaveCount(0);

  const context = await browser.newContext({ baseURL: url, javaScriptEnabled: false });
  await context.addCookies(await page.context().cookies());
  const plain = await context.newPage();
  await plain.goto('/sandboxes/runs?tab=terminal');
  await plain.getByRole('button', { name: 'Stop echo other; sleep 301' }).click();
  await expect(plain.getByText('It is stopped.')).toBeVisible();
  await context.close();
  // The first page sees it by itself.
  await expect(section.getByText('stopped: Somebody stopped it')).toHaveCount(2);
  // Nothing is under way now, so nothing but the live stream can bring what another client begins.
  await begin('sleep 302');
  await expect(section.getByRole('listitem').filter({ hasText: 'sleep 302' })).toContainText('runs ·');
});

test('bytes that are no text are shown as what they are not, which the end says', async ({ page }) => {
  await moor('bytes', 'resume');
  await openSession(page);
  await openTerminal(page, 'bytes');
  await runCommand(page, `printf '\\xff\\xfe a\\n'`);
  await seeRow(page, '\ufffd\ufffd a');
  await seeRow(page, /^exit 0 · .* · bytes that are no text shown as \ufffd$/);
  await runCommand(page, 'echo é');
  await seeRow(page, 'é');
  await seeRow(page, /^exit 0 · [^·]*$/);
});

test('a flood is cut and does not freeze the page, and a screen keeps its line when its size changes', async ({
  page,
}) => {
  await moor('flood', 'resume');
  await openSession(page);
  await openTerminal(page, 'flood');
  await runCommand(page, `js -e 'console.log("all work and no play ".repeat(300000))'`);
  await seeRow(page, /^exit 0 · .* · output cut$/);
  await page.keyboard.type('while true; do echo flood; done');
  await page.keyboard.press('Enter');
  await seeRow(page, 'flood');
  await page.getByRole('button', { name: 'Stop' }).click();
  await seeRow(page, '^C stopped');

  const long = `echo ${'abcdefghij'.repeat(12)}`;
  await commandLine(page).focus();
  await page.keyboard.type(long);
  await page.setViewportSize({ width: 390, height: 844 });
  await expect.poll(async () => (await rows(page)).join('')).toContain(`/workspace $ ${long}`);
  await page.setViewportSize({ width: 1280, height: 900 });
  await expect.poll(async () => (await rows(page)).join('')).toContain(`/workspace $ ${long}`);
});

test('colours are ours in both themes, a selection is copied, a paste runs nothing, and the policy forbids none of it', async ({
  page,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await moor('colours', 'resume');
  await openSession(page);
  await openTerminal(page, 'colours');
  await runCommand(page, String.raw`printf '\e[31mred\e[0m \e[38;2;0;200;0mgreen\e[0m \e[2J\e]0;mine\a\e[6nstays\n'`);
  await seeRow(page, 'red green stays');
  await expect(page).toHaveTitle(/^Terminal, colours/);
  const colour = (text: string) =>
    page
      .locator('.xterm-rows span', { hasText: new RegExp(`^${text}$`) })
      .last()
      .evaluate((span) => getComputedStyle(span).color);
  expect(await colour('red')).toBe('rgb(179, 37, 43)');
  expect(await colour('green')).toMatch(/^rgb\(0, \d+, 0\)$/);
  await page.getByRole('button', { name: 'Night' }).click();
  await expect.poll(() => colour('red')).toBe('rgb(255, 154, 156)');
  await page.getByRole('button', { name: 'System' }).click();

  await expect.poll(() => colour('red')).toBe('rgb(179, 37, 43)');
  // A theme draws the rows anew: what was found a moment ago may be gone.
  await expect(() =>
    page.locator('.xterm-rows span', { hasText: /^red$/ }).last().dblclick({ force: true, timeout: 1000 }),
  ).toPass();
  await page.keyboard.press('Control+c');
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('red');

  await page.evaluate(() => navigator.clipboard.writeText('echo one\necho two\n'));
  await commandLine(page).focus();
  await page.keyboard.press('Control+v');
  await seeRow(page, '> echo two');
  expect(await rows(page)).not.toContain('one');
  await page.keyboard.press('Enter');
  await seeRow(page, 'two');

  await page.getByLabel('Language').selectOption('js');
  await commandLine(page).focus();
  await page.keyboard.type('[6 * 7]');
  await page.keyboard.press('Enter');
  await seeRow(page, '= [42]');
});

test('a reload in the middle of a command loses nothing, and a second browser shows the same and may type', async ({
  page,
  browser,
}) => {
  await moor('stays', 'resume');
  await openSession(page);
  await openTerminal(page, 'stays');
  await runCommand(page, 'mkdir -p here; cd here; echo first');
  await page.keyboard.type('echo begun; sleep 2; echo later');
  await page.keyboard.press('Enter');
  await seeRow(page, 'begun');
  expect(await seen('stays')).toMatchObject({ attached: 1, next: null });
  await page.reload();
  await seeRow(page, 'first');
  await seeRow(page, 'later');
  await seeRow(page, '/workspace/here $');
  const other = await (await browser.newContext({ baseURL: visited().url })).newPage();
  await openSession(other);
  await openTerminal(other, 'stays');
  await seeRow(other, 'later');
  await runCommand(other, 'echo from the other');
  await seeRow(page, 'from the other');
  await page.getByRole('button', { name: 'New terminal' }).click();
  await expect(page.getByRole('button', { name: 'Terminal 2' })).toHaveAttribute('aria-pressed', 'true');
  await seeRow(page, '/workspace $');
  await page.getByRole('button', { name: 'Terminal 1' }).click();
  await seeRow(page, 'from the other');
  await commandLine(page).focus();
  await page.keyboard.type('gre\t');
  await seeRow(page, /\$ grep$/);
  await page.keyboard.press('Control+u');
  await page.keyboard.type('cat <<END');
  await page.keyboard.press('Enter');
  await page.keyboard.type('two words');
  await page.keyboard.press('Enter');
  await page.keyboard.type('END');
  await page.keyboard.press('Enter');
  await seeRow(page, 'two words');
  await other.context().close();
});

test('the drawer opens over any page, outlives a link, is there after a reload with its lines and height, and gives the keyboard back', async ({
  page,
}) => {
  await moor('drawn', 'resume');
  await openSession(page);
  await openTerminal(page, 'drawn');
  await seeRow(page, '/workspace $');
  await page.goto('/sandboxes');
  const jump = page.getByRole('button', { name: 'Jump to…' });
  const drawer = page.getByRole('region', { name: 'Terminal of Terminal, drawn' });
  await jump.focus();
  await page.keyboard.press('Control+Backquote');
  await expect(drawer).toBeVisible();
  await expect(commandLine(page)).toBeFocused();
  await runCommand(page, 'cd /memory; echo over the list');
  await seeRow(page, 'over the list');
  expect(await flaws(page)).toEqual([]);
  await page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'Tenants' }).click();
  await expect(page).toHaveURL(/\/tenants$/);
  await seeRow(page, 'over the list');
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await drawer.boundingBox()).toMatchObject({ x: 0, y: 0, width: 390, height: 844 });
  expect(await flaws(page)).toEqual([]);
  // What it covers is out of reach: of the keyboard, of a screen reader, of a click by its place.
  expect(
    await page
      .locator('body > header, main')
      .evaluateAll((parts) => parts.map((part) => part.closest('[inert]') !== null)),
  ).toEqual([true, true]);
  await commandLine(page).focus();
  await page.keyboard.press('Escape');
  for (let presses = 0; presses < 12; presses += 1) {
    await page.keyboard.press('Tab');
    const place = await page.evaluate(
      () => document.activeElement?.closest('.terminal-drawer, header, main, footer')?.className ?? 'none',
    );
    expect(['none', 'terminal-drawer no-print']).toContain(place);
  }
  await commandLine(page).focus();
  await page.keyboard.press('Control+Backquote');
  await expect(drawer).toHaveCount(0);
  await expect(page.locator('[inert]')).toHaveCount(0);
  await expect(jump).toBeFocused();

  await page.keyboard.press('Control+Backquote');
  await seeRow(page, 'over the list');
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect(page.locator('[inert]')).toHaveCount(0);
  const edge = drawer.getByRole('separator', { name: 'Height of the terminal' });
  await edge.focus();
  await page.keyboard.press('ArrowUp');
  await expect(edge).toHaveAttribute('aria-valuenow', '55');
  const { x = 0, y = 0 } = (await edge.boundingBox()) ?? {};
  await page.mouse.move(x + 200, y + 4);
  await page.mouse.down();
  await page.mouse.move(x + 200, 240);
  await page.mouse.up();
  expect((await drawer.boundingBox())?.height).toBe(560);

  // A reload finds it open, as high and with its lines.
  await page.reload();
  await seeRow(page, 'over the list');
  await seeRow(page, '/memory $');
  expect((await drawer.boundingBox())?.height).toBe(560);
  await drawer.getByRole('button', { name: 'Full height' }).click();
  await expect(page.locator('main[inert]')).toHaveCount(1);
  await drawer.getByRole('button', { name: 'Full height' }).click();
  await drawer.getByRole('button', { name: 'Clear', exact: true }).click();
  await expect.poll(async () => (await rows(page)).includes('over the list')).toBe(false);
  await drawer.getByRole('button', { name: /^Close the panel/ }).click();
  await expect(drawer).toHaveCount(0);
  await page.reload();
  await expect(jump).toBeVisible();
  await expect(drawer).toHaveCount(0);
});

test('the keyboard is not trapped, and what forbids a command is said', async ({ page }) => {
  await moor('left', 'resume', 'archive');
  await openSession(page);
  await page.goto('/sandboxes/left?tab=terminal');
  await expect(page.getByLabel(/^Command, in/)).toBeDisabled();
  await expect(page.getByText('It is archived, and a command does not revive it: revive it first.')).toBeVisible();
  await visited().call('POST', '/api/instances/left/revive', { reason: 'to type in it' });
  await openTerminal(page, 'left');
  await page.keyboard.type('half a line');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: 'Copy', exact: true })).toBeFocused();
  await page.keyboard.press('Shift+Tab');
  await expect(commandLine(page)).toBeFocused();
  await page.keyboard.press('Control+u');
  await page.keyboard.press('Control+d');
  await expect(page.getByRole('button', { name: 'Copy', exact: true })).toBeFocused();
});
