/** The frame of every page: the masthead, the page, the foot. */

import { GeistMono } from 'geist/font/mono';
import { GeistSans } from 'geist/font/sans';
import type { Metadata, Viewport } from 'next';
import { cookies } from 'next/headers';
import type { ReactNode } from 'react';
import { Heard } from '#components/heard.tsx';
import { Live } from '#components/live.tsx';
import { Toasts } from '#components/toasts.tsx';
import { cookieRules } from '#lib/auth/cookies.ts';
import { getHost } from '#lib/host.ts';
import { currentCaller, ledgerSeq, renderedAt } from './caller.ts';
import { Foot } from './foot.tsx';
import { Masthead } from './masthead.tsx';
import { isTheme, themeCookie } from './theme.ts';
import './globals.css';

export const dynamic = 'force-dynamic';

export const metadata: Metadata = {
  title: { default: 'Winterdock', template: '%s · Winterdock' },
  description: 'Sandboxes that sleep as files.',
  robots: { index: false, follow: false },
};

export const viewport: Viewport = {
  themeColor: [
    { media: '(prefers-color-scheme: light)', color: '#fbfaf6' },
    { media: '(prefers-color-scheme: dark)', color: '#101318' },
  ],
};

export default async function Layout({ children }: { children: ReactNode }) {
  const chosen = (await cookies()).get(themeCookie(cookieRules(getHost().config)))?.value;
  const theme = isTheme(chosen) ? chosen : undefined;
  const caller = await currentCaller();
  return (
    <html lang="en" data-theme={theme} className={`${GeistSans.variable} ${GeistMono.variable}`}>
      <body>
        <a href="#main" className="button sr-only z-10 focus:not-sr-only focus:absolute focus:m-2">
          Skip to the content
        </a>
        {caller === null ? (
          <main id="main" className="flex-1">
            {children}
          </main>
        ) : (
          <Live after={await ledgerSeq()}>
            <Heard actor={caller.actor} since={renderedAt()} />
            <Masthead actor={caller.actor} />
            <main id="main" className="page flex-1" tabIndex={-1}>
              {children}
            </main>
          </Live>
        )}
        <Foot theme={theme} shortcuts={caller !== null} />
        <Toasts />
      </body>
    </html>
  );
}
