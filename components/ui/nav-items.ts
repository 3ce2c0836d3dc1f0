/** The places of the console: for its navigation, the palette and the shortcuts. The only list of them. */

export interface NavItem {
  href: string;
  name: string;
  /** The key that leads there after `g`. */
  key?: string;
  /** Nothing below its address belongs to it. */
  exact?: true;
  /** Other addresses that belong to it. */
  also?: readonly string[];
}

/** What is looked after. */
export const MAIN_NAV: readonly NavItem[] = [
  { href: '/', name: 'Overview', key: 'o', exact: true },
  { href: '/sandboxes', name: 'Sandboxes', key: 's', also: ['/jobs'] },
  { href: '/archive', name: 'Archive', key: 'a' },
  { href: '/snapshots', name: 'Library', key: 'l', also: ['/blueprints', '/shares'] },
  { href: '/tenants', name: 'Tenants', key: 't' },
  { href: '/audit', name: 'Audit', key: 'u' },
];

/** What it is looked after with. */
export const TOOL_NAV: readonly NavItem[] = [
  { href: '/explorer', name: 'Explorer', key: 'e' },
  { href: '/settings', name: 'Settings', key: ',' },
];

/** Pages below a place that have an address of their own. */
export const OTHER_PAGES: readonly NavItem[] = [
  { href: '/blueprints', name: 'Blueprints' },
  { href: '/shares', name: 'Shares' },
  { href: '/jobs', name: 'Jobs' },
];

/** The pages of the settings, side by side. */
export const SETTINGS_NAV: readonly NavItem[] = [
  { href: '/settings', name: 'Account', exact: true },
  { href: '/settings/people', name: 'People' },
  { href: '/settings/keys', name: 'Keys' },
  { href: '/settings/thresholds', name: 'Thresholds' },
  { href: '/settings/storage', name: 'Storage' },
  { href: '/settings/ledger', name: 'Ledger' },
];
