/** What axe finds on a page, in the light and in the dark. Knows nothing of the pages. */
import { readFileSync } from 'node:fs';
import { AXE_PATH, type axe, type Page } from '#peers/playwright.ts';

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** To describe what passed, and to read the style sheets for experimental rules, would take as long as to look. */
const OPTIONS: axe.RunOptions = {
  runOnly: { type: 'tag', values: TAGS },
  resultTypes: ['violations'],
  preload: false,
};

const SCRIPT = readFileSync(AXE_PATH, 'utf8');

/** The page's own `window`, once the script has run in it. */
type WithAxe = typeof globalThis & { axe?: typeof axe };

type Theme = 'light' | 'dark';

/** A colour as axe has it: channels from 0 to 1. */
interface Colour {
  r: number;
  g: number;
  b: number;
  alpha: number;
  parseString(text: string): Colour;
}

/**
 * Has axe parse each colour of the page once. It parses every colour of every element for every text before it: a page
 * has some twenty colours, and a third of the time went to them.
 */
function parseColoursOnce(): void {
  const { commons } = (globalThis as { axe?: unknown }).axe as { commons: { color: { Color: { prototype: Colour } } } };
  const { prototype } = commons.color.Color;
  const { parseString } = prototype;
  const parsed = new Map<string, readonly [number, number, number, number]>();
  prototype.parseString = function (text) {
    const known = parsed.get(text);
    if (known !== undefined) {
      [this.r, this.g, this.b, this.alpha] = known;
      return this;
    }
    parseString.call(this, text);
    parsed.set(text, [this.r, this.g, this.b, this.alpha]);
    return this;
  };
}

/**
 * Runs axe. `like`: the layout that it has looked at already; where the page still has it, every element as visible, in
 * its place and of its size, only the rules about colours can find something else.
 */
async function look(page: Page, like: string | null) {
  return page.evaluate(
    async ({ options, tags, like }) => {
      const { axe } = globalThis as WithAxe;
      if (axe === undefined) return null;
      const layout = [...document.querySelectorAll('*')]
        .map((element) => {
          const { x, y, width, height } = element.getBoundingClientRect();
          const isSeen = element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
          return [element.localName, isSeen, x, y, width, height].join(' ');
        })
        .join('\n');
      const colours = axe.getRules(tags).filter((rule) => rule.tags.includes('cat.color'));
      const values = colours.map(({ ruleId }) => ruleId);
      const run = layout === like ? { ...options, runOnly: { type: 'rule' as const, values } } : options;
      return { layout, violations: (await axe.run(document, run)).violations };
    },
    { options: OPTIONS, tags: TAGS, like },
  );
}

/** Every flaw that axe finds in the themes of the page as it stands, in words; the page is left in the last of them. */
export async function flaws(page: Page, themes: readonly Theme[] = ['dark', 'light']): Promise<string[]> {
  const found: string[] = [];
  let layout: string | null = null;
  // The script is large, and quicker the second time: it stays in the page for both themes.
  if (!(await page.evaluate(() => 'axe' in globalThis))) {
    await page.evaluate(SCRIPT);
    await page.evaluate(parseColoursOnce);
  }
  // After a link its title comes later than its content. Axe names a page that never has one.
  await page.waitForFunction(() => document.title !== '', undefined, { timeout: 240_000 }).catch(() => undefined);
  for (const colorScheme of themes) {
    // A message that fades in has the contrast of its half-way colour for a moment.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const seen = await look(page, layout);
    if (seen === null) throw new Error('The page was left while axe looked at it.');
    layout = seen.layout;
    for (const { id, nodes } of seen.violations) {
      for (const { html, failureSummary } of nodes) {
        found.push(`${id} in the ${colorScheme}: ${html.slice(0, 300)}\n${failureSummary}`);
      }
    }
  }
  await page.emulateMedia({ reducedMotion: null });
  return found;
}
