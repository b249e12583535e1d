(() => {
  'use strict';
  const root = document.documentElement;
  const remember = value => { try { localStorage.setItem('flyball-theme', value); } catch { /* a file: page may have no storage */ } };
  const recall = () => { try { return localStorage.getItem('flyball-theme'); } catch { return null; } };
  const dark = () => root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;

  const toggle = document.getElementById('theme');
  const label = () => { toggle.textContent = dark() ? 'Light' : 'Dark'; toggle.setAttribute('aria-label', `Switch to the ${dark() ? 'light' : 'dark'} theme`); };
  const wanted = new URLSearchParams(location.search).get('theme') || recall();
  if (wanted === 'dark' || wanted === 'light') root.dataset.theme = wanted;
  toggle.hidden = false;
  toggle.addEventListener('click', () => { root.dataset.theme = dark() ? 'light' : 'dark'; remember(root.dataset.theme); label(); });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', label);
  label();

  for (const button of document.querySelectorAll('button.copy')) {
    button.hidden = false;
    button.addEventListener('click', async () => {
      const code = button.previousElementSibling;
      try {
        await navigator.clipboard.writeText(code.textContent);
      } catch {
        // Without a secure context: select the text and let the old way copy it.
        getSelection().selectAllChildren(code);
        document.execCommand('copy');
      }
      button.textContent = 'Copied';
      setTimeout(() => { button.textContent = 'Copy'; }, 1500);
    });
  }

  const value = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.value === undefined ? cell.textContent.trim() : Number(cell.dataset.value);
  };
  const compare = (a, b) => typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b));
  for (const table of document.querySelectorAll('table.sortable')) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener('click', () => {
        const up = head.getAttribute('aria-sort') !== 'ascending';
        heads.forEach(other => other.removeAttribute('aria-sort'));
        head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
        const rows = [...table.tBodies[0].rows];
        rows.sort((a, b) => (up ? 1 : -1) * compare(value(a, column), value(b, column)));
        table.tBodies[0].append(...rows);
      });
    });
  }
  root.dataset.ready = 'yes';
})();
