/** The look of a dashboard: the colours and the theme in its address. */

/** The use of each colour of an address on the page. */
const VARIABLES: Readonly<Record<string, readonly string[]>> = {
  Gray_dark: ['--ink'],
  Gray_medium: ['--soft'],
  Gray_light: ['--line-strong'],
  Gray_extralight: ['--line', '--hover'],
  White: ['--paper', '--ground', '--raised', '--on-accent'],
  Primary_medium: ['--accent'],
  Primary_light: ['--accent-ground'],
  Primary_green: ['--good'],
  Primary_red: ['--bad'],
  Progress_bar: ['--progress'],
  Progress_bar_background: ['--progress-ground'],
  Action: ['--action'],
  Action_hover: ['--action-hover'],
  ...Object.fromEntries(
    Array.from({ length: 10 }, (_, index) => [`UsageLine_${index}`, [`--series-${index + 1}`]]),
  ),
};

const SCHEMES: Readonly<Record<string, string>> = { light: 'light', dark: 'dark', auto: 'light dark' };

export function applyLook(theme: string | undefined, colors: Readonly<Record<string, string>>): void {
  const { style } = document.documentElement;
  style.setProperty('color-scheme', SCHEMES[theme ?? 'light'] ?? 'light');
  // The page around the frame is paper too.
  style.setProperty('--ground', 'var(--paper)');
  for (const [name, color] of Object.entries(colors)) {
    for (const variable of VARIABLES[name] ?? []) style.setProperty(variable, color);
  }
}
