/** The style sheet and the script of the reference page. */

export const DOCS_STYLE = `
:root { color-scheme: light dark; --text: light-dark(#1c2024, #e6e8ea); --soft: light-dark(#60676e, #9aa3ab);
  --back: light-dark(#fff, #14171a); --raised: light-dark(#f4f6f7, #1d2125); --line: light-dark(#dde1e4, #30363c);
  --link: light-dark(#0b5fa5, #7ab8f5); --good: light-dark(#19703a, #6cc98c); --bad: light-dark(#a32a1f, #f08a7e); }
* { box-sizing: border-box; }
body { margin: 0; display: grid; grid-template-columns: 19rem minmax(0, 1fr); color: var(--text);
  background: var(--back); font: 15px/1.5 system-ui, sans-serif; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1rem; background: var(--raised);
  border-right: 1px solid var(--line); font-size: 13px; }
nav h1 { font-size: 1.2rem; margin: 0 0 .6rem; }
nav h2 { font-size: .75rem; margin: 1rem 0 .2rem; color: var(--soft); text-transform: uppercase; letter-spacing: .05em; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav a { display: block; padding: .15rem .3rem; border-radius: 4px; color: inherit; text-decoration: none; }
nav a:hover, nav a:focus { background: var(--line); }
input { width: 100%; padding: .4rem .5rem; font: inherit; color: inherit; background: var(--back);
  border: 1px solid var(--line); border-radius: 6px; }
main { padding: 1rem 2.5rem 6rem; max-width: 60rem; }
article { padding: 1.2rem 0; border-top: 1px solid var(--line); scroll-margin-top: .5rem; }
article h2 { font-size: 1.15rem; margin: 0; } article h2 a { color: inherit; text-decoration: none; }
article:target h2 a { color: var(--link); }
h2.group { margin-top: 3rem; }
h3 { font-size: .8rem; margin: 1.1rem 0 .3rem; color: var(--soft); text-transform: uppercase; letter-spacing: .05em; }
p { margin: .3rem 0; } a { color: var(--link); }
code, pre { font: 13px/1.45 ui-monospace, monospace; }
pre { padding: .8rem; overflow-x: auto; background: var(--raised); border: 1px solid var(--line); border-radius: 6px; }
table { border-collapse: collapse; width: 100%; } td { padding: .3rem .8rem .3rem 0; vertical-align: top;
  border-bottom: 1px solid var(--line); }
.method { display: inline-block; min-width: 3.2rem; margin-right: .4rem; font: 700 11px ui-monospace, monospace; color: var(--soft); }
.method.get { color: var(--link); } .method.post { color: var(--good); } .method.delete { color: var(--bad); }
.type, .limits { color: var(--soft); } .required { color: var(--bad); font-size: 12px; }
.members { list-style: none; margin: .2rem 0 .2rem .3rem; padding-left: .8rem; border-left: 2px solid var(--line); }
.members li { margin: .25rem 0; } .members p { color: var(--soft); display: inline; margin-left: .4rem; }
.status.s2 { color: var(--good); } .status.s4, .status.s5 { color: var(--bad); }
summary { cursor: pointer; color: var(--link); margin: .5rem 0; }
@media (max-width: 50rem) { body { display: block; } nav { position: static; height: auto; max-height: 50vh; } main { padding: 1rem; } }
`;

export const DOCS_SCRIPT = `
const filter = document.getElementById('filter');
filter.addEventListener('input', () => {
  const words = filter.value.toLowerCase().split(/\\s+/).filter(Boolean);
  for (const item of document.querySelectorAll('nav li')) {
    item.hidden = !words.every((word) => item.dataset.words.includes(word));
  }
  for (const group of document.querySelectorAll('nav section')) {
    group.hidden = group.querySelector('li:not([hidden])') === null;
  }
});
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== filter) { event.preventDefault(); filter.focus(); }
});
`;
