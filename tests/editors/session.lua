-- What is done in a real Neovim, as a person does it: a file is opened, its findings are waited for, the cursor is put on one,
-- K and the quick fix are asked for, and the buffer is written. What was seen goes into the file of SERVELINT_SEEN, as JSON.
local word, action = vim.env.SERVELINT_WORD, vim.env.SERVELINT_ACTION
local seen = {}

local function finish(problem)
  seen.problem = problem
  local file = assert(io.open(vim.env.SERVELINT_SEEN, "w"))
  file:write(vim.json.encode(seen))
  file:close()
  vim.cmd("qall!")
end

local function told()
  return vim.tbl_map(function(one)
    return { code = one.code, line = one.lnum, column = one.col, ["end"] = one.end_col, severity = one.severity, source = one.source }
  end, vim.diagnostic.get(0))
end

local function floating()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then
      return table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), "\n")
    end
  end
end

local function wait(what, is)
  if not vim.wait(30000, is, 20) then
    error(what .. " did not come")
  end
end

local function session()
  wait("a finding", function()
    return #vim.diagnostic.get(0) > 0
  end)
  seen.before = told()

  vim.fn.search(word)
  vim.lsp.buf.hover()
  wait("the hover", floating)
  seen.hover = floating()

  vim.ui.select = function(items, options, choose)
    seen.offered = vim.tbl_map(options.format_item, items)
    for index, title in ipairs(seen.offered) do
      if title:find(action, 1, true) then
        return choose(items[index], index)
      end
    end
    choose(nil, nil)
  end
  local tick = vim.api.nvim_buf_get_changedtick(0)
  vim.lsp.buf.code_action()
  wait("the quick fix", function()
    return vim.api.nvim_buf_get_changedtick(0) ~= tick
  end)
  vim.cmd("write")
  wait("what is found then", function()
    return #told() < #seen.before
  end)
  seen.after = told()
end

vim.defer_fn(function()
  local went, problem = xpcall(session, debug.traceback)
  finish(not went and problem or nil)
end, 0)
