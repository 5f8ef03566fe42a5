;; What is done in a real Emacs with eglot, as a person does it: a file is opened, its findings are waited for, point is put on
;; one, eldoc and the quick fix are asked for, and the buffer is saved.  What was seen goes into the file of SERVELINT_SEEN.
(require 'json)
(require 'flymake)

(defun seen-wait (what is)
  "Wait until the function IS gives something, and give that; WHAT is its name."
  (let ((end (+ (float-time) 30)) (found nil))
    (while (not (setq found (funcall is)))
      (when (> (float-time) end) (error "%s did not come" what))
      (accept-process-output nil 0.02))
    found))

(defun seen-diagnostics ()
  "The texts of the findings, with where they are."
  (mapcar (lambda (one)
            `((text . ,(substring-no-properties (flymake-diagnostic-text one)))
              (severe . ,(if (memq (flymake-diagnostic-type one) '(eglot-error :error)) t :json-false))
              (place . ,(buffer-substring-no-properties (flymake-diagnostic-beg one) (flymake-diagnostic-end one)))))
          (flymake-diagnostics)))

(defun seen-session ()
  "The session; gives what was seen."
  (let (before hover offered)
    (find-file (getenv "SERVELINT_FILE"))
    ;; what a command loop would run after the file was opened
    (run-hooks 'post-command-hook)
    (seen-wait "the server" #'eglot-current-server)
    (flymake-mode 1)
    (setq before (seen-wait "a finding" #'seen-diagnostics))
    (goto-char (point-min))
    (search-forward (getenv "SERVELINT_WORD"))
    (backward-char)
    (eglot-hover-eldoc-function (lambda (text &rest _) (setq hover text)))
    (seen-wait "the hover" (lambda () hover))
    (let ((tick (buffer-chars-modified-tick)))
      (cl-letf (((symbol-function 'completing-read)
                 (lambda (_prompt choices &rest _)
                   (setq offered (mapcar #'car choices))
                   (seq-find (lambda (title) (string-search (getenv "SERVELINT_ACTION") title)) offered))))
        (let ((last-nonmenu-event ?a)) ; a key, so that no menu pops up
          (call-interactively #'eglot-code-actions)))
      (seen-wait "the quick fix" (lambda () (/= tick (buffer-chars-modified-tick)))))
    (save-buffer)
    (seen-wait "what is found then" (lambda () (< (length (seen-diagnostics)) (length before))))
    `((before . ,(vconcat before)) (hover . ,(substring-no-properties hover)) (offered . ,(vconcat offered))
      (after . ,(vconcat (seen-diagnostics))))))

(let ((seen (condition-case problem (seen-session) (error `((problem . ,(error-message-string problem)))))))
  (with-temp-file (getenv "SERVELINT_SEEN") (insert (json-encode seen)))
  (kill-emacs 0))
