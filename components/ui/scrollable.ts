/**
 * What a box that scrolls needs so that the keyboard reaches it; browsers differ in whether they do this themselves.
 */
export const SCROLLABLE = { tabIndex: 0 } as const;
