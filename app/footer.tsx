/** The footer of every page: what this is, and the choice of theme. Works without JavaScript. */
import { SheetButton } from '#components/palette/sheet-button.tsx';
import { chooseTheme } from './actions.ts';
import type { Theme } from './theme.ts';

const CHOICES: readonly { value: Theme | 'system'; label: string }[] = [
  { value: 'system', label: 'System' },
  { value: 'light', label: 'Paper' },
  { value: 'dark', label: 'Night' },
];

/** `shortcuts`: shows the button for the list of shortcuts. */
export function Footer({ theme, shortcuts }: { theme: Theme | undefined; shortcuts: boolean }) {
  return (
    <footer className="page no-print mt-auto w-full">
      <div className="flex flex-wrap items-center justify-between gap-x-8 gap-y-3 border-t border-rule py-5 text-small text-ink-3">
        <p className="mr-auto">Winterdock: sandboxes that sleep as files.</p>
        {shortcuts && <SheetButton />}
        <form action={chooseTheme} className="flex items-center gap-1">
          <span id="theme-name" className="mr-1.5">
            Look
          </span>
          {CHOICES.map(({ value, label }) => {
            const chosen = value === (theme ?? 'system');
            return (
              <button
                key={value}
                type="submit"
                name="theme"
                value={value}
                aria-pressed={chosen}
                className={`button button-quiet ${chosen ? '!border-ink' : '!border-transparent !text-ink-2'}`}
              >
                {label}
              </button>
            );
          })}
        </form>
      </div>
    </footer>
  );
}
