/**
 * `node scripts/icons.ts`: draws the pictures of public/ from app/icon.svg: the icons of the installed console and the
 * preview picture of links to it.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, ensureBrowser } from './browser.ts';
import { ROOT } from './build.ts';

const PUBLIC = join(ROOT, 'public');
const icon = readFileSync(join(ROOT, 'app', 'icon.svg'), 'utf8');
/** The maskable icon: systems cut its corners, so it has none, and nothing within a tenth of the edge. */
const filled = icon.replace(
  /<svg ([^>]*)viewBox="0 0 32 32"/,
  '<svg $1viewBox="-4 -4 40 40" style="background:#fbfaf6"',
);

const font = (weight: string) =>
  `data:font/woff2;base64,${readFileSync(join(ROOT, 'node_modules', 'geist', 'dist', 'fonts', 'geist-sans', `Geist-${weight}.woff2`)).toString('base64')}`;

/** The size that https://ogp.me and its readers agree on. */
const LINK = { width: 1200, height: 630 };

const link = `<style>
  @font-face { font-family: Geist; font-weight: 400; src: url(${font('Regular')}); }
  @font-face { font-family: Geist; font-weight: 600; src: url(${font('SemiBold')}); }
  body { margin: 0; height: 100vh; box-sizing: border-box; padding: 0 96px; background: #fbfaf6; color: #121316; font-family: Geist; display: grid;
    grid-template-columns: auto 1fr; gap: 64px; align-items: center; }
  svg { width: 300px; }
  h1 { margin: 0; font-size: 104px; font-weight: 600; letter-spacing: -0.03em; }
  p { margin: 16px 0 0; font-size: 42px; line-height: 1.3; color: #4a4c48; }
</style>${icon}<div><h1>Winterdock</h1><p>Sandboxes that sleep as files.</p></div>`;

const square = (svg: string) =>
  `<style>body { margin: 0 } svg { display: block; width: 100vw; height: 100vh }</style>${svg}`;

const PICTURES = [
  { name: 'icon-192.png', width: 192, height: 192, html: square(icon) },
  { name: 'icon-512.png', width: 512, height: 512, html: square(icon) },
  { name: 'icon-maskable-512.png', width: 512, height: 512, html: square(filled) },
  { name: 'apple-touch-icon.png', width: 180, height: 180, html: square(filled) },
  { name: 'link.png', ...LINK, html: link },
];

mkdirSync(PUBLIC, { recursive: true });
const browser = await chromium.launch({ executablePath: ensureBrowser(), args: ['--no-sandbox'] });
try {
  for (const { name, width, height, html } of PICTURES) {
    const page = await browser.newPage({ viewport: { width, height } });
    await page.setContent(html);
    await page.evaluate(() => document.fonts.ready);
    await page.screenshot({ path: join(PUBLIC, name), omitBackground: true });
    await page.close();
  }
} finally {
  await browser.close();
}
