/** Hands at a sandbox's terminal: opening it, typing into it, reading what it shows. */
import { expect, type Locator, type Page } from '#peers/playwright.ts';

/** The line of the emulator, which is there once it has replaced the form. */
export function commandLine(page: Page): Locator {
  return page.getByRole('textbox', { name: /^Command line/ });
}

/** Opens the terminal of a sandbox and puts the keyboard into it. */
export async function openTerminal(page: Page, id: string): Promise<void> {
  await page.goto(`/sandboxes/${id}?tab=terminal`);
  await commandLine(page).focus();
}

/** What the emulator shows, row by row. */
export async function rows(page: Page): Promise<string[]> {
  return page
    .locator('.xterm-rows > div')
    .evaluateAll((all) => all.map(({ textContent }) => (textContent ?? '').replaceAll('\u00a0', ' ').trimEnd()));
}

/** Waits until the emulator shows a row that is so. */
export async function seeRow(page: Page, row: string | RegExp): Promise<void> {
  await expect
    .poll(async () => (await rows(page)).some((one) => (typeof row === 'string' ? one === row : row.test(one))), {
      message: `a row ${row}`,
    })
    .toBe(true);
}

/** Runs a command by the emulator, or by the form where there is none, and waits for its end. */
export async function runCommand(page: Page, command: string, { plain = false } = {}): Promise<void> {
  const log = page.getByRole('log');
  if (plain) {
    await page.getByLabel(/^Command, in/).fill(command);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await expect(log.locator('li').last()).toContainText(/exit \d+/);
    return;
  }
  const before = await log.locator('p').count();
  await commandLine(page).focus();
  await page.keyboard.type(command);
  await page.keyboard.press('Enter');
  await expect(log.locator('p')).toHaveCount(before + 1);
  await expect(log.locator('p').last()).toContainText(/exit \d+/);
}
