/**
 * Runs before anything else of the console in a browser: the one Trusted Types policy. Code comes from the build's own
 * files and nowhere else; a text never becomes markup, except the empty script that React makes its script elements
 * from.
 */

interface TrustedTypesFactory {
  createPolicy(
    name: string,
    rules: { createHTML(text: string): string | null; createScriptURL(url: string): string | null },
  ): unknown;
}

const REACT_MAKES_SCRIPTS_FROM = '<script></script>';

function isOurCode(address: string): boolean {
  if (!URL.canParse(address, location.href)) return false;
  const { origin, pathname } = new URL(address, location.href);
  return origin === location.origin && pathname.startsWith('/_next/static/');
}

(window as { trustedTypes?: TrustedTypesFactory }).trustedTypes?.createPolicy('default', {
  createHTML: (text) => (text === REACT_MAKES_SCRIPTS_FROM ? text : null),
  createScriptURL: (address) => (isOurCode(address) ? address : null),
});
