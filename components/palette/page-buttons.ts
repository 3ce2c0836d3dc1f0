/** The buttons of the open page, as the palette offers them: found by their names, and pressed or gone to. */

/** More are no choice any more. */
const MOST = 40;
/** The moves of a sandbox are offered with their reasons already, and rows have a button each. */
const LEFT_OUT = '#moves, nav, td, [role="log"]';

const nameOf = (button: Element) =>
  (button.getAttribute('aria-label') ?? button.textContent ?? '').replace(/\s+/g, ' ').trim();

function found(): HTMLElement[] {
  const all = document.querySelectorAll<HTMLElement>('main :is(button:not([disabled]), summary.button, a.button)');
  return [...all].filter((one) => one.checkVisibility() && one.closest(LEFT_OUT) === null && nameOf(one) !== '');
}

/** Their names, each once, in the order of the page. */
export function pageButtons(): string[] {
  return [...new Set(found().map(nameOf))].slice(0, MOST);
}

/** What is to be filled in before a button is pressed. */
function fieldOf(button: HTMLElement): HTMLElement | null {
  const form = button.closest('form');
  const fields = form?.querySelectorAll<HTMLElement>('input:not([type="hidden"]), select, textarea') ?? [];
  return [...fields].find((one) => one.checkVisibility()) ?? null;
}

/**
 * Goes to a button: to the first field of its form where there is one, so that nothing is sent that nobody has filled
 * in; a button by itself is pressed, one that destroys something is only focused.
 */
export function goToButton(name: string): void {
  const button = found().find((one) => nameOf(one) === name);
  if (button === undefined) return;
  const target = fieldOf(button) ?? button;
  target.scrollIntoView({ block: 'nearest' });
  target.focus();
  if (target === button && !button.classList.contains('button-fault')) button.click();
}
