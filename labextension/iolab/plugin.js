// The JupyterLab extension: logs open as pages, the launcher takes uploads, and a log opens as a notebook.
// JupyterLab loads this file as it is: nothing is built.  Its own modules come from the scope that it hands over.
"use strict";
(() => {
  const FACTORY = "Oracle I/O page";
  const TYPE = "oracle-io-log";
  // What Oracle and the tools of the operating system write: by suffix, and reports by the names that their scripts give.
  const SUFFIXES = [".trc", ".strace", ".lst", ".lis", ".prf", ".nmon"];
  const REPORTS = "^(awr_?(rpt|grpt|sqrpt|ddrpt|gdrpt|crt)|ash_?rpti?|addm_?rpt|sp)_.*\\.(html?|txt|lst)$";
  // Larger logs are not opened in the editor.
  const MOST_EDITED = 32 * 2 ** 20;
  const POLL_MS = 5000;
  const MOST_TABS = 4;
  // In a narrower window the panels beside a page would leave it no room.
  const NARROW = 640;
  const ICON = `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24"><g class="jp-icon3" fill="#616161">
    <path d="M3 4h18v4H3z"/><path d="M3 10h11v4H3z"/><path d="M15 10h6v4h-6z" opacity=".45"/><path d="M3 16h6v4H3z"/>
    <path d="M10 16h4v4h-4z" opacity=".6"/></g></svg>`;
  const STYLE = `
    .iolab-page { background: var(--jp-layout-color0); }
    .iolab-page iframe { position: absolute; inset: 0; border: 0; width: 100%; height: 100%; }
    body.lm-mod-override-cursor .iolab-page iframe { pointer-events: none; }
    .iolab-said { padding: 24px 32px; max-width: 46rem; font-size: 14px; line-height: 20px; color: var(--jp-ui-font-color1); overflow-wrap: anywhere; white-space: pre-line; }
    .iolab-said h2 { font-size: 18px; line-height: 26px; font-weight: 600; margin: 0 0 8px; }
    .iolab-status { color: var(--jp-ui-font-color2); font-size: var(--jp-ui-font-size1); padding: 0 12px; line-height: 24px; white-space: nowrap; }
    .iolab-parts { font: inherit; color: inherit; background: var(--jp-layout-color1); border: 1px solid var(--jp-border-color1); height: 24px; max-width: 12rem; }
    .iolab-field { padding: 32px; overflow: auto; background: var(--jp-layout-color0); color: var(--jp-ui-font-color1); }
    .iolab-field h1 { font-size: 21px; line-height: 28px; font-weight: 650; margin: 0 0 4px; }
    .iolab-field p { max-width: 46rem; line-height: 20px; margin: 0 0 16px; color: var(--jp-ui-font-color2); }
    .iolab-field .iolab-picker { max-width: 760px; padding: 32px; }
    @media (max-width: 639px) { .iolab-field, .iolab-field .iolab-picker, .iolab-said { padding: 16px; } }`;
  let scope = null;

  // A module that JupyterLab shares; it has one version of each of its own.
  async function shared(name) {
    const [version] = Object.values(scope[name]);
    return (await version.get())();
  }

  function element(name, text, kind) {
    const made = document.createElement(name);
    made.textContent = text;
    if (kind) made.className = kind;
    return made;
  }

  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const sizeText = (bytes) => (bytes < 1e6 ? `${Math.ceil(bytes / 1e3).toLocaleString("en")} kB` : `${(bytes / 1e6).toLocaleString("en", { maximumFractionDigits: 1 })} MB`);
  const nameOf = (path) => path.split("/").pop();

  async function makePlugin() {
    const [application, apputils, coreutils, docregistry, filebrowser, launchers, notebooks, services, ui, lumino] = await Promise.all(
      ["@jupyterlab/application", "@jupyterlab/apputils", "@jupyterlab/coreutils", "@jupyterlab/docregistry", "@jupyterlab/filebrowser",
        "@jupyterlab/launcher", "@jupyterlab/notebook", "@jupyterlab/services", "@jupyterlab/ui-components", "@lumino/widgets"].map(shared));
    const { Widget } = lumino;
    const icon = new ui.LabIcon({ name: "iolab:logs", svgstr: ICON });

    // No content: the page is made by the server, and a log may have gigabytes.
    class ModelFactory extends docregistry.TextModelFactory {
      get name() { return "oracle-io-log"; }
      get fileFormat() { return null; }
      // A model that others save is given no checkpoint, which would be a copy of the log.
      createNew(options = {}) { return super.createNew({ ...options, collaborationEnabled: true }); }
    }

    function activate(app, themes, launcher, browser, restorer, palette, books) {
      const { commands, docRegistry, serviceManager } = app;
      const settings = serviceManager.serverSettings;
      const address = (path) => coreutils.URLExt.join(settings.baseUrl, "iolab") + "/" + path;
      const localPath = (path) => serviceManager.contents.localPath(path);

      async function ask(path, method, body) {
        const init = { method };
        if (body !== undefined) init.body = body instanceof ArrayBuffer ? body : JSON.stringify(body);
        const answer = await services.ServerConnection.makeRequest(address(path), init, settings);
        const said = await answer.json().catch(() => ({}));
        if (answer.ok) return said;
        throw Object.assign(new Error(said.message || answer.statusText || "the server does not answer"), { status: answer.status });
      }

      // The page of a log, or of two compared, once it is read; `heard` is given each state on the way, and ends the
      // reading with false.
      async function read(path, heard, other) {
        let page = await ask("pages", "POST", other ? { path, with: other } : { path });
        for (let wait = 150; ; wait = Math.min(1000, wait * 1.3)) {
          if (heard(page) === false) {
            await leave(page);
            return null;
          }
          if (page.state === "done" || page.state === "failed") return page;
          await pause(wait);
          page = await ask(`pages/${page.id}`, "GET");
        }
      }

      const leave = (page) => ask(`pages/${page.id}`, "DELETE").catch(() => {});

      const progress = (page, name) => page.state === "waiting" && page.before
        ? `${name} waits: ${page.before === 1 ? "1 log is" : `${page.before} logs are`} read first.`
        : `Reading ${name} (${sizeText(page.size)}), ${Math.round(page.seconds)} s`;

      const theme = () => (themes && themes.theme && !themes.isLight(themes.theme) ? "dark" : "light");

      // In a narrow window the file browser and the panel on the right are closed at the start and by what is opened, as
      // a drawer is; their buttons stay.
      const makeRoom = () => app.restored.then(() => {
        if (window.innerWidth >= NARROW || !app.shell.collapseLeft) return;
        app.shell.collapseLeft();
        app.shell.collapseRight();
      });

      class PageView extends Widget {
        constructor(context, other) {
          super();
          this.context = context;
          this.other = other;
          this.addClass("iolab-page");
          this.said = element("div", "", "iolab-said");
          this.said.setAttribute("role", "status");
          this.status = new Widget({ node: element("span", "", "iolab-status") });
          this.node.append(this.said);
          this.parts = new Widget({ node: element("select", "", "iolab-parts") });
          this.parts.node.setAttribute("aria-label", "part of the page");
          this.parts.node.hidden = true;
          this.parts.node.addEventListener("change", () => this.tell({ show: this.parts.node.value }));
          this.turn = 0;
          this.heard = (event) => this.hear(event);
          window.addEventListener("message", this.heard);
          this.timer = setInterval(() => this.look(), POLL_MS);
          this.themed = () => this.tell({ theme: theme() });
          if (themes) themes.themeChanged.connect(this.themed);
          context.pathChanged.connect(() => this.open());
          context.ready.then(() => this.open());
        }

        dispose() {
          if (this.isDisposed) return;
          this.turn += 1;
          clearInterval(this.timer);
          window.removeEventListener("message", this.heard);
          if (themes) themes.themeChanged.disconnect(this.themed);
          for (const page of new Set([this.page, this.next])) if (page) leave(page);
          super.dispose();
        }

        get path() { return localPath(this.context.path); }

        get name() { return [this.path, this.other].filter(Boolean).map(nameOf).join(" and "); }

        // A page that was read again is told where its reader was; it may hear that when it is loaded, or say when it can.
        settle() {
          this.tell({ theme: theme(), scroll: this.scroll || 0 });
        }

        tell(message) {
          if (this.frame) this.frame.contentWindow.postMessage(message, "*");
        }

        // A page has no origin: it is known by its window, and what it says is a number, or that it can be told something.
        hear(event) {
          if (!this.frame || event.source !== this.frame.contentWindow) return;
          const { line, ready, scroll, parts } = event.data || {};
          if (ready === true) this.settle();
          if (Array.isArray(parts)) this.offer(parts);
          if (Number.isFinite(scroll)) this.scroll = scroll;
          if (Number.isSafeInteger(line) && line > 0 && !this.other) showLine(this.path, line, this.page.size);
        }

        // The parts of the page, in place of its bar of contents.
        offer(parts) {
          const select = this.parts.node;
          const chosen = select.value;
          select.replaceChildren(...parts.filter(Array.isArray).slice(0, 20).map(([id, text]) => {
            const option = element("option", String(text).slice(0, 60));
            option.value = String(id);
            return option;
          }));
          if (parts.some(([id]) => id === chosen)) select.value = chosen;
          select.hidden = parts.length === 0;
        }

        // Read the log, again where it was read before: until its new page is there the old one stays.
        async open() {
          const turn = (this.turn += 1);
          const name = this.name;
          this.isReading = true;
          try {
            const page = await read(this.path, (state) => {
              if (turn !== this.turn) return false;
              this.next = state;
              const text = progress(state, name);
              // a longer text would push buttons out of the toolbar
              if (this.frame) this.status.node.textContent = `reading, ${Math.round(state.seconds)} s`;
              else this.say("", text);
              return true;
            }, this.other);
            if (page === null) return;
            this.next = null;
            if (this.page && this.page.id !== page.id) leave(this.page);
            this.page = page;
            if (page.state === "failed") this.refuse(page.message);
            else await this.show(page, turn);
          } catch (error) {
            if (turn !== this.turn) return;
            this.page = null;
            this.refuse(error.message);
          } finally {
            if (turn === this.turn) {
              this.isReading = false;
              this.readAt = Date.now();
            }
          }
        }

        say(title, text) {
          this.said.replaceChildren(...(title ? [element("h2", title)] : []), element("div", text));
          this.said.hidden = false;
        }

        refuse(reason) {
          if (this.frame) this.frame.remove();
          this.frame = null;
          this.status.node.textContent = "";
          this.say("Not read", reason);
        }

        async show(page, turn) {
          const frame = document.createElement("iframe");
          frame.setAttribute("sandbox", "allow-scripts allow-downloads");
          frame.title = `What ${this.name} ${this.other ? "say" : "says"}`;
          frame.style.visibility = "hidden";
          const isThere = new Promise((done) => frame.addEventListener("load", done, { once: true }));
          frame.src = address(`pages/${page.id}/page.html`);
          this.node.append(frame);
          await isThere;
          if (turn !== this.turn) {
            frame.remove();
            return;
          }
          if (this.frame) this.frame.remove();
          this.frame = frame;
          this.settle();
          frame.style.visibility = "";
          this.said.hidden = true;
          this.status.node.textContent = `${sizeText(page.size)} · read in ${page.seconds.toFixed(1)} s`;
        }

        // The log may grow: it is read again, the later the longer that takes.
        async look() {
          if (this.isReading || document.hidden || !this.isVisible || this.context.isDisposed) return;
          const taken = this.page ? this.page.seconds : 0;
          if (Date.now() - (this.readAt || 0) < Math.max(POLL_MS, 5000 * taken)) return;
          try {
            if (!this.page || (await ask(`pages/${this.page.id}`, "GET")).is_changed) await this.open();
          } catch (error) {
            if (error.status === 404) await this.open();
          }
        }
      }

      class PageFactory extends docregistry.ABCWidgetFactory {
        createNewWidget(context) {
          const view = new PageView(context);
          const widget = new docregistry.DocumentWidget({ content: view, context });
          const button = fill(widget, view);
          button("compare", "Compare with …", "Compare this log with another one", () => compareWith(view.path));
          button("cell", "Insert cell", "Insert a cell that reads this log into the notebook that was used last", () => insertCell(view.path));
          button("notebook", "Open as notebook", "Write a notebook of this log beside it, and run it", () => openNotebook(view.path));
          button("text", "Open as text", "Open the log in the editor", () => showLine(view.path, 1, view.page ? view.page.size : 0));
          finish(widget, view, button);
          return widget;
        }
      }

      // What the toolbars of a log and of a comparison share.
      function fill(widget, view) {
        widget.title.icon = icon;
        widget.toolbar.addItem("parts", view.parts);
        const button = (name, label, tooltip, onClick) => widget.toolbar.addItem(name, new ui.ToolbarButton({ label, tooltip, onClick }));
        button("csv", "CSV", "Save all figures of the page as CSV", () => view.tell({ csv: true }));
        return button;
      }

      function finish(widget, view, button) {
        button("refresh", "Refresh", "Read the log again, if it has changed", () => view.open());
        widget.toolbar.addItem("spacer", ui.Toolbar.createSpacerItem());
        widget.toolbar.addItem("status", view.status);
      }

      // A page of two logs is no document: its context is the path of the first.
      function openComparison(path, other) {
        const context = { path, ready: Promise.resolve(), isDisposed: false, pathChanged: { connect() {} } };
        const view = new PageView(context, other);
        const widget = new apputils.MainAreaWidget({ content: view });
        finish(widget, view, fill(widget, view));
        widget.title.label = view.name;
        widget.title.closable = true;
        app.shell.add(widget, "main");
        app.shell.activateById(widget.id);
      }

      // Logs that are open, and those beside this one.
      async function compareWith(path) {
        try {
          const opened = [];
          tracker.forEach((widget) => opened.push(localPath(widget.context.path)));
          const folder = await serviceManager.contents.get(coreutils.PathExt.dirname(path), { content: true });
          const listed = folder.content.filter((one) => one.type === "file" && docRegistry.getFileTypesForPath(one.path).some((type) => type.name === TYPE));
          const items = [...new Set([...opened, ...listed.map((one) => one.path)])].filter((one) => one !== path);
          if (items.length === 0) throw new Error("No other log is open or in this folder.");
          const chosen = await apputils.InputDialog.getItem({ title: `Compare ${nameOf(path)} with`, items, okLabel: "Compare" });
          if (chosen.button.accept && chosen.value) openComparison(path, chosen.value);
        } catch (error) {
          complain(error);
        }
      }

      // Into the notebook that was used last; without one into a notebook of the log.
      async function insertCell(path) {
        const panel = books && books.currentWidget;
        if (!panel) return openNotebook(path);
        try {
          await panel.sessionContext.ready;
          const name = coreutils.PathExt.relative(coreutils.PathExt.dirname(localPath(panel.context.path)), path);
          notebooks.NotebookActions.insertBelow(panel.content);
          panel.content.activeCell.model.sharedModel.setSource(`import iolab\n\nlog = iolab.load(${JSON.stringify(name)})\nlog`);
          app.shell.activateById(panel.id);
          await notebooks.NotebookActions.run(panel.content, panel.sessionContext);
        } catch (error) {
          complain(error);
        }
        return null;
      }

      const complain = (error) => apputils.Notification.error(error.message, { autoClose: 10000 });

      async function showLine(path, line, size) {
        const reason = size > MOST_EDITED ? `has ${sizeText(size)}, too much for the editor` : /\.(gz|bz2|xz|zst|zip|tgz|tar)$/i.test(path) ? "is compressed" : "";
        if (reason) {
          apputils.Notification.info(`Line ${line.toLocaleString("en")}: ${nameOf(path)} ${reason}.`, { autoClose: 10000 });
          return;
        }
        const widget = await commands.execute("docmanager:open", { path, factory: "Editor", options: { mode: "tab-after" } });
        await widget.context.ready;
        await widget.revealed;
        const editor = widget.content.editor;
        const end = Math.min(line, editor.lineCount);
        // Lines below come into sight first, so that the line is not the last one of the screen.
        editor.revealPosition({ line: Math.min(end + 14, editor.lineCount - 1), column: 0 });
        editor.setSelection({ start: { line: end - 1, column: 0 }, end: { line: end - 1, column: (editor.getLine(end - 1) || "").length } });
        editor.revealPosition({ line: end - 1, column: 0 });
      }

      async function openNotebook(path) {
        try {
          const made = await ask("notebooks", "POST", { path });
          const widget = await commands.execute("docmanager:open", { path: made.path, factory: "Notebook", options: { mode: window.innerWidth < NARROW ? "tab-after" : "split-right" } });
          await widget.context.ready;
          await widget.sessionContext.ready;
          await notebooks.NotebookActions.runAll(widget.content, widget.sessionContext);
          await widget.context.save();
        } catch (error) {
          complain(error);
        }
      }

      // The field of the notebooks, whose messages go to the server instead of a kernel.
      function fieldModel(folder) {
        const opened = [];
        const cancelled = new Set();
        const values = { piece_bytes: 4 * 2 ** 20, patience_ms: 2 ** 31 - 1, is_plain: true, open: openPage };
        let listener = () => {};
        const send = (message, buffer) => ask(`uploads?message=${encodeURIComponent(JSON.stringify({ ...message, folder }))}`, "POST", buffer || new ArrayBuffer(0));

        function openPage(path, isFirst = true) {
          return commands.execute("docmanager:open", { path, factory: FACTORY, options: { activate: isFirst } });
        }

        async function whole(message, said) {
          const { id, n } = message;
          const page = await read(said.path, (state) => {
            listener({ type: "wait", id, n, what: state.state === "waiting" ? "waiting" : `reading, ${Math.round(state.seconds)} s` });
            return !cancelled.has(id);
          });
          if (page) leave(page);
          if (!page || page.state === "failed") {
            await send({ type: "remove", id });
            return { type: "failed", id, n, message: page ? page.message.replace(`${nameOf(said.path)}: `, "") : "cancelled" };
          }
          opened.push(said.path);
          if (opened.length <= MOST_TABS) await openPage(said.path, opened.length === 1);
          return { ...said, what: `${sizeText(page.size)}, read in ${page.seconds.toFixed(1)} s` };
        }

        return {
          get: (name) => values[name],
          on: (_, heard) => { listener = heard; },
          off: () => { listener = () => {}; },
          async send(message, _, buffers) {
            if (message.type === "cancel") cancelled.add(message.id);
            try {
              const said = await send(message, buffers && buffers[0]);
              listener(said.type === "done" ? await whole(message, said) : said);
            } catch (error) {
              listener({ type: "failed", id: message.id, n: message.n, message: error.message });
            }
          },
        };
      }

      class Field extends Widget {
        constructor(folder) {
          super();
          this.addClass("iolab-field");
          this.node.append(element("h1", "What does this log say?"),
            element("p", `AWR, Statspack and ASH reports, SQL traces, strace logs, spools, iostat and others; compressed or not. Files go to ${folder ? `the folder ${folder}` : "the top folder"}, and nothing leaves this server.`));
          const box = document.createElement("div");
          this.node.append(box);
          import(address("field.js")).then((field) => {
            this.end = field.default.render({ model: fieldModel(folder), el: box });
          }, (error) => box.append(element("p", `The field could not be loaded: ${error.message}`)));
        }

        dispose() {
          if (this.end) this.end();
          super.dispose();
        }
      }

      makeRoom();
      if (app.shell.currentChanged) app.shell.currentChanged.connect(makeRoom);
      document.head.append(element("style", STYLE));
      const styles = document.createElement("link");
      styles.rel = "stylesheet";
      styles.href = address("field.css");
      document.head.append(styles);

      docRegistry.addFileType({ name: TYPE, displayName: "Oracle I/O log", mimeTypes: ["text/plain"], extensions: SUFFIXES.flatMap((one) => [one, `${one}.gz`]),
        pattern: REPORTS, fileFormat: "text", contentType: "file", icon });
      docRegistry.addModelFactory(new ModelFactory());
      const factory = new PageFactory({ name: FACTORY, modelName: "oracle-io-log", fileTypes: [TYPE, "*"], defaultFor: [TYPE], readOnly: true });
      const tracker = new apputils.WidgetTracker({ namespace: "iolab-pages" });
      factory.widgetCreated.connect((_, widget) => {
        tracker.add(widget);
        widget.context.pathChanged.connect(() => tracker.save(widget));
      });
      docRegistry.addWidgetFactory(factory);
      if (restorer) restorer.restore(tracker, { command: "docmanager:open", args: (widget) => ({ path: widget.context.path, factory: FACTORY }), name: (widget) => widget.context.path });

      commands.addCommand("iolab:upload", {
        label: "Oracle I/O logs",
        caption: "Upload AWR reports, SQL traces, strace logs and others, and read what they say",
        icon,
        execute: (args) => {
          const folder = localPath((args && args.cwd) || (browser ? browser.model.path : ""));
          const widget = new apputils.MainAreaWidget({ content: new Field(folder) });
          widget.title.label = "Oracle I/O logs";
          widget.title.icon = icon;
          widget.title.closable = true;
          app.shell.add(widget, "main");
          app.shell.activateById(widget.id);
          return widget;
        },
      });
      if (launcher) launcher.add({ command: "iolab:upload", category: "Other", rank: 1 });
      if (palette) palette.addItem({ command: "iolab:upload", category: "Oracle I/O" });
    }

    return {
      id: "iolab:pages",
      description: "Opens Oracle I/O logs as pages, and takes uploads.",
      autoStart: true,
      optional: [apputils.IThemeManager, launchers.ILauncher, filebrowser.IDefaultFileBrowser, application.ILayoutRestorer, apputils.ICommandPalette, notebooks.INotebookTracker],
      activate,
    };
  }

  (window._JUPYTERLAB = window._JUPYTERLAB || {}).iolab = {
    init(given) { scope = given; },
    async get() {
      const plugin = await makePlugin();
      return () => ({ __esModule: true, default: plugin });
    },
  };
})();
