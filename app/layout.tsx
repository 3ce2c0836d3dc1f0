/** The layout of every page: masthead, page, footer. */

import type { Metadata, Viewport } from 'next';
import { cookies, headers } from 'next/headers';
import type { ReactNode } from 'react';
import { HeldActNotice } from '#components/live/held-act-notice.tsx';
import { JobNotifier } from '#components/live/job-notifier.tsx';
import { LiveProvider } from '#components/live/live-provider.tsx';
import { ServerBar } from '#components/live/server-bar.tsx';
import { StrayDrops } from '#components/ui/stray-drops.tsx';
import { Toasts } from '#components/ui/toasts.tsx';
import { ZoneProvider } from '#components/ui/zone.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { cookieRules } from '#lib/auth/cookies.ts';
import { getHost } from '#lib/host/host.ts';
import { currentCaller, ledgerSeq, renderedAt } from './caller.ts';
import { mono, sans } from './fonts.ts';
import { Footer } from './footer.tsx';
import { Masthead } from './masthead.tsx';
import { isTheme, themeCookie } from './theme.ts';
import { visitorZone, zoneCookie } from './zone.ts';
import './globals.css';

export const dynamic = 'force-dynamic';

/** See scripts/icons.ts. */
const LINK_PICTURE = { url: '/link.png', width: 1200, height: 630, alt: 'Winterdock: sandboxes that sleep as files' };

/** Metadata for browsers and link previews. Its addresses are absolute, because others read them. */
export function generateMetadata(): Metadata {
  const { publicUrl, port } = getHost().config;
  const description = 'Sandboxes that sleep as files.';
  return {
    metadataBase: new URL(publicUrl ?? `http://localhost:${port}`),
    title: { default: 'Winterdock', template: '%s · Winterdock' },
    description,
    robots: { index: false, follow: false },
    manifest: '/manifest.webmanifest',
    icons: { apple: '/apple-touch-icon.png' },
    openGraph: { siteName: 'Winterdock', type: 'website', description, images: [LINK_PICTURE] },
  };
}

export const viewport: Viewport = {
  themeColor: [
    { media: '(prefers-color-scheme: light)', color: '#fbfaf6' },
    { media: '(prefers-color-scheme: dark)', color: '#101318' },
  ],
};

/** The name of who is signed in. */
async function visitorName(caller: Caller): Promise<string> {
  const { person, key } = await getHost().operations.me(caller);
  return person?.name ?? key?.name ?? 'Admin key';
}

export default async function Layout({ children }: { children: ReactNode }) {
  const rules = cookieRules(getHost().config);
  const chosen = (await cookies()).get(themeCookie(rules))?.value;
  const theme = isTheme(chosen) ? chosen : undefined;
  const [caller, newestLine, zone] = await Promise.all([currentCaller(), ledgerSeq(), visitorZone()]);
  const build = (await headers()).get('x-winterdock-build') ?? undefined;
  return (
    <html
      lang="en"
      data-theme={theme}
      data-build={build}
      data-zone-cookie={zoneCookie(rules)}
      className={`${sans.variable} ${mono.variable}`}
    >
      <body>
        <a href="#main" className="button sr-only z-10 focus:not-sr-only focus:absolute focus:m-2">
          Skip to the content
        </a>
        <ZoneProvider zone={zone}>
          <ServerBar />
          <HeldActNotice />
          {caller === null ? (
            <main id="main" className="flex-1">
              {children}
            </main>
          ) : (
            <LiveProvider after={newestLine}>
              <JobNotifier actor={caller.actor} since={renderedAt()} />
              <Masthead caller={caller} name={await visitorName(caller)} zone={zone} />
              <main id="main" className="page flex-1" tabIndex={-1}>
                {children}
              </main>
            </LiveProvider>
          )}
        </ZoneProvider>
        <Footer theme={theme} shortcuts={caller !== null} />
        <Toasts />
        <StrayDrops />
      </body>
    </html>
  );
}
