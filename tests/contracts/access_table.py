"""Who gets what at every address of the site: a literal table, held by test_access.py.

A line is the name of an address, a method, and what each person is answered. To add an address, run
the test: it prints the line as the site behaves now. Judge every word of it before you paste it.

    ok      the page, or what was asked for (200, 204, 286)
    login   sent to sign in (a redirect to the sign-in page, or 401 where a program asks)
    moved   let in and sent on (any other redirect)
    403     refused; 404 it does not exist for this person; 405 not by this method
    400 409 415 422   let in, and what was sent (an empty form) was refused

An address that only reads needs its GET line alone: POST must then be answered like GET, or be
refused. One that only writes needs its POST line alone. Addresses of the administration are made
by the framework and not listed: they are for administrators alone.
"""

PERSONAS = {
    "stranger": "not signed in",
    "nobody": "signed in, with no right and in no study",
    "annot": "annotator of the study, with open items",
    "outsider": "annotator of another study",
    "research": "researcher of the study",
    "manager": "manager of the study",
    "observer": "observer of the study",
    "viewer": "holder of view_results, in no study",
    "starter": "holder of start_runs, in no study",
    "admin": "administrator (superuser and staff)",
}

TABLE = """
# Accounts
#                                      stranger nobody   annot    outsider research manager  observer viewer   starter  admin
account_login                     GET  ok       moved    moved    moved    moved    moved    moved    moved    moved    moved
account_logout                    GET  moved    ok       ok       ok       ok       ok       ok       ok       ok       ok
account_logout                    POST moved    moved    moved    moved    moved    moved    moved    moved    moved    moved
account_inactive                  GET  ok       ok       ok       ok       ok       ok       ok       ok       ok       ok
account_signup                    GET  ok       moved    moved    moved    moved    moved    moved    moved    moved    moved
account_reauthenticate            GET  login    ok       ok       ok       ok       ok       ok       ok       ok       ok
account_change_password           GET  login    ok       ok       ok       ok       ok       ok       ok       ok       ok
account_start                     GET  ok       ok       ok       ok       ok       ok       ok       ok       ok       ok
account_set_password              GET  login    moved    moved    moved    moved    moved    moved    moved    moved    moved
mfa_index                         GET  login    ok       ok       ok       ok       ok       ok       ok       ok       ok
mfa_authenticate                  GET  login    moved    moved    moved    moved    moved    moved    moved    moved    moved
mfa_reauthenticate                GET  login    moved    moved    moved    moved    moved    moved    moved    moved    moved
mfa_activate_totp                 GET  login    moved    moved    moved    moved    moved    moved    moved    moved    moved
mfa_deactivate_totp               GET  login    404      404      404      404      404      404      404      404      404
mfa_view_recovery_codes           GET  login    404      404      404      404      404      404      404      404      404
mfa_generate_recovery_codes       GET  login    moved    moved    moved    moved    moved    moved    moved    moved    moved
mfa_download_recovery_codes       GET  login    404      404      404      404      404      404      404      404      404

# The HTTP API: a token of the person, where there is one
#                                      stranger nobody   annot    outsider research manager  observer viewer   starter  admin
api:openapi-json                  GET  ok       ok       ok       ok       ok       ok       ok       ok       ok       ok
api:openapi-view                  GET  ok       ok       ok       ok       ok       ok       ok       ok       ok       ok
api:list_systems                  GET  login    403      403      403      403      403      403      ok       403      ok
api:get_one_system                GET  login    403      403      403      403      403      403      ok       403      ok
api:list_datasets                 GET  login    403      403      403      403      403      403      ok       403      ok
api:get_dataset                   GET  login    403      403      403      403      403      403      ok       403      ok
api:list_tasks                    GET  login    403      403      403      403      403      403      ok       403      ok
api:get_task                      GET  login    403      403      403      403      403      403      ok       403      ok
api:list_agents                   GET  login    403      403      403      403      403      403      ok       403      ok
api:get_agent                     GET  login    403      403      403      403      403      403      ok       403      ok
api:list_runs                     GET  login    403      403      403      403      403      403      ok       403      ok
api:list_runs                     POST login    403      403      403      403      403      403      403      422      422
api:get_run                       GET  login    403      403      403      403      403      403      ok       403      ok
api:pause_one_run                 POST login    403      403      403      403      403      403      403      422      422
api:resume_one_run                POST login    403      403      403      403      403      403      403      422      422
api:cancel_one_run                POST login    403      403      403      403      403      403      403      422      422
api:get_run_metrics               GET  login    403      403      403      403      403      403      ok       403      ok
api:list_trajectories             GET  login    403      403      403      403      403      403      ok       403      ok
api:get_trajectory                GET  login    403      403      403      403      403      403      ok       403      ok
api:list_exchanges                GET  login    403      403      403      403      403      403      ok       403      ok
api:list_scores                   GET  login    403      403      403      403      403      403      422      403      422
api:list_scores_as_csv            GET  login    403      403      403      403      403      403      422      403      422
api:list_turns                    GET  login    403      403      403      403      403      403      422      403      422
api:list_formats                  GET  login    403      403      403      403      403      403      ok       403      ok
api:import_file                   GET  login    403      403      403      403      403      403      403      ok       ok
api:import_file                   POST login    403      403      403      403      403      403      403      422      422
api:get_import                    GET  login    403      403      403      403      403      403      403      ok       ok
api:export_run                    GET  login    403      403      403      403      403      403      ok       403      ok
api:list_studies                  GET  login    ok       ok       ok       ok       ok       ok       ok       ok       ok
api:get_study                     GET  login    404      ok       404      ok       ok       ok       404      404      ok
api:list_ratings_as_csv           GET  login    404      403      404      ok       ok       403      404      404      ok
api:list_rating_edits_as_csv      GET  login    404      403      404      ok       ok       403      404      404      ok
api:export_study                  GET  login    404      403      404      ok       ok       403      404      404      ok
api:list_endpoints                GET  login    403      403      403      403      403      403      ok       403      ok
api:list_endpoints                POST login    403      403      403      403      403      403      403      403      422
api:get_endpoint                  GET  login    403      403      403      403      403      403      ok       403      ok
api:preview_judging               POST login    403      403      403      403      403      403      403      422      422
api:start_new_judging             POST login    403      403      403      403      403      403      403      422      422
api:list_judgings                 GET  login    403      403      403      403      403      403      ok       403      ok
api:get_branch_results            GET  login    403      403      403      403      403      403      404      403      404
api:start_trajectory_branches     GET  login    403      403      403      403      403      403      ok       403      ok
api:start_trajectory_branches     POST login    403      403      403      403      403      403      403      422      422
api:choose_primary_judging        POST login    403      403      403      403      403      403      403      422      422
api:list_studies                  POST login    403      403      403      403      403      403      403      422      422
api:preview_study                 POST login    403      403      403      403      403      403      403      422      422
api:get_study_progress            GET  login    404      403      404      ok       ok       ok       404      404      ok
api:get_study_retention           GET  login    404      403      404      ok       ok       ok       404      404      ok
api:change_study_status           POST login    404      403      404      403      ok       403      404      404      ok
api:export_study_file             GET  login    404      403      404      ok       ok       403      404      404      ok
api:list_ratings                  GET  login    404      403      404      ok       ok       403      404      404      ok
api:list_rating_edits             GET  login    404      403      404      ok       ok       403      404      404      ok
api:list_own_assignments          GET  login    404      ok       404      404      404      404      404      404      404
api:go_to_next_step               POST login    404      ok       404      404      404      404      404      404      404
api:get_own_assignment            GET  login    404      409      404      404      404      404      404      404      404
api:open_own_assignment           POST login    404      ok       404      404      404      404      404      404      404
api:rate_own_assignment           POST login    404      422      404      404      404      404      404      404      404
api:submit_own_assignment         POST login    404      422      404      404      404      404      404      404      404
api:skip_own_assignment           POST login    404      ok       404      404      404      404      404      404      404
api:reopen_own_assignment         POST login    404      ok       404      404      404      404      404      404      404
api:preview_sessions              POST login    403      403      403      403      403      403      403      422      422
api:create_study_of_sessions      POST login    403      403      403      403      403      403      403      422      422
api:list_sessions                 GET  login    404      403      404      ok       ok       ok       404      404      ok
api:list_duels                    GET  login    404      403      404      ok       ok       ok       404      404      ok
api:get_session                   GET  login    404      ok       404      ok       ok       ok       404      404      ok
api:list_analysis_pages           GET  login    403      403      403      403      403      403      ok       403      ok
api:get_analysis                  GET  login    403      403      403      403      403      403      ok       403      ok
api:get_analysis_table            GET  login    403      403      403      403      403      403      404      403      404
api:get_analysis_figure           GET  login    403      403      403      403      403      403      501      403      501
api:list_papers                   GET  login    403      403      403      403      403      403      ok       403      ok
api:get_paper                     GET  login    403      403      403      403      403      403      ok       403      404
api:get_paper_file                GET  login    403      403      403      403      403      403      ok       403      404
api:list_papers                   POST login    403      403      403      403      403      403      422      403      422
api:get_paper                     POST login    403      403      403      403      403      403      422      403      404
api:pin_to_paper                  POST login    403      403      403      403      403      403      422      403      404
api:compare_pin                   GET  login    403      403      403      403      403      403      ok       403      404
api:compare_trajectories          GET  login    403      403      403      403      403      403      422      403      422
api:make_invitations              POST login    404      403      404      403      201      403      404      404      201
api:make_link_for_platform        POST login    404      403      404      403      422      403      404      404      422
api:request_analysis              POST login    403      403      403      403      403      403      202      403      202
api:delete_experiment             GET  405      405      405      405      405      405      405      405      405      405
api:list_failure_labels           GET  login    403      403      403      403      403      403      ok       403      ok
api:list_failure_labels           POST login    403      403      403      403      403      403      403      403      404
api:list_registrations            GET  login    403      403      403      403      403      403      ok       403      ok
api:list_registrations            POST login    403      403      403      403      403      403      403      403      404
api:get_registration              GET  login    403      403      403      403      403      403      ok       403      ok
api:list_questions                GET  login    403      403      403      403      403      403      ok       403      ok
api:list_questions                POST login    403      403      403      403      403      403      403      403      404
api:get_question                  GET  login    403      403      403      403      403      403      ok       403      ok
api:list_question_answers         GET  login    403      403      403      403      403      403      409      403      409
api:get_failure_groups            GET  login    403      403      403      403      403      403      ok       403      ok
api:get_failure_groups            POST login    403      403      403      403      403      403      202      403      202
api:api-root                      GET  404      404      404      404      404      404      404      404      404      404

# Tokens
#                                      stranger nobody   annot    outsider research manager  observer viewer   starter  admin
programs:token_list               GET  login    ok       ok       ok       ok       ok       ok       ok       ok       ok
programs:token_list               POST login    422      422      422      422      422      422      422      422      422
programs:token_revoke             POST login    404      404      404      404      404      404      404      404      moved

# Tasks, runs, trajectories
#                                      stranger nobody   annot    outsider research manager  observer viewer   starter  admin
benchmarks:list_columns           POST login    404      404      404      404      404      404      404      404      404
benchmarks:dataset_list           GET  login    403      403      403      403      403      403      ok       403      ok
benchmarks:dataset_import         GET  login    403      403      403      403      403      403      403      ok       ok
benchmarks:dataset_import         POST login    403      403      403      403      403      403      403      422      422
benchmarks:dataset                GET  login    403      403      403      403      403      403      ok       403      ok
benchmarks:dataset_validity       GET  login    403      403      403      403      403      403      ok       403      ok
benchmarks:dataset_validity       POST login    403      403      403      403      403      403      403      moved    moved
benchmarks:dataset_delete         GET  login    403      403      403      403      403      403      403      403      ok
benchmarks:dataset_delete         POST login    403      403      403      403      403      403      403      403      moved
benchmarks:task                   GET  login    403      403      403      403      403      403      ok       403      ok
benchmarks:problems_import        GET  login    403      403      403      403      403      403      403      ok       ok
benchmarks:problems_import        POST login    403      403      403      403      403      403      403      422      422
benchmarks:construction_new       GET  login    403      403      403      403      403      403      403      ok       ok
benchmarks:construction_new       POST login    403      403      403      403      403      403      403      422      422
benchmarks:construction_dataset   GET  login    403      403      403      403      403      403      403      404      404
benchmarks:construction_dataset   POST login    403      403      403      403      403      403      403      404      404
benchmarks:dataset_file           GET  login    403      403      403      403      403      403      ok       403      ok
benchmarks:task_growth            GET  login    403      403      403      403      403      403      404      403      404
benchmarks:agent_list             GET  login    403      403      403      403      403      403      ok       403      ok
benchmarks:endpoint_list          GET  login    403      403      403      403      403      403      ok       403      ok
benchmarks:endpoint_new           GET  login    403      403      403      403      403      403      403      403      ok
benchmarks:endpoint_new           POST login    403      403      403      403      403      403      403      403      422
benchmarks:endpoint_rules         GET  login    403      403      403      403      403      403      403      403      ok
benchmarks:endpoint_rules         POST login    403      403      403      403      403      403      403      403      moved
benchmarks:endpoint_guide         GET  login    403      403      403      403      403      403      403      ok       ok
benchmarks:endpoint               GET  login    403      403      403      403      403      403      ok       403      ok
benchmarks:endpoint_edit          GET  login    403      403      403      403      403      403      403      403      ok
benchmarks:endpoint_edit          POST login    403      403      403      403      403      403      403      403      422
benchmarks:endpoint_retire        POST login    403      403      403      403      403      403      403      403      moved
benchmarks:endpoint_try           POST login    403      403      403      403      403      403      403      403      moved
benchmarks:endpoint_trials        GET  login    403      403      403      403      403      403      403      403      ok
benchmarks:ask_list               GET  login    403      403      403      403      403      403      403      ok       ok
benchmarks:ask                    GET  login    403      403      403      403      403      403      403      ok       ok
benchmarks:ask                    POST login    403      403      403      403      403      403      403      422      422
benchmarks:ask_next               GET  login    403      403      403      403      403      403      403      ok       ok
benchmarks:run_list               GET  login    403      403      403      403      403      403      ok       403      ok
benchmarks:experiment_list        GET  login    403      403      403      403      403      403      ok       403      ok
benchmarks:experiment_new         GET  login    403      403      403      403      403      403      403      ok       ok
benchmarks:experiment_new         POST login    403      403      403      403      403      403      403      422      422
benchmarks:experiment             GET  login    403      403      403      403      403      403      ok       403      ok
benchmarks:experiment_export      GET  login    403      403      403      403      403      403      moved    403      moved
benchmarks:experiment_progress    GET  login    403      403      403      403      403      403      ok       403      ok
benchmarks:experiment_design      GET  login    403      403      403      403      403      403      404      403      404
benchmarks:experiment_pause       POST login    403      403      403      403      403      403      403      moved    moved
benchmarks:experiment_resume      POST login    403      403      403      403      403      403      403      moved    moved
benchmarks:experiment_cancel      POST login    403      403      403      403      403      403      403      moved    moved
benchmarks:experiment_share       POST login    403      403      403      403      403      403      403      moved    moved
benchmarks:experiment_delete      GET  login    403      403      403      403      403      403      403      403      ok
benchmarks:experiment_delete      POST login    403      403      403      403      403      403      403      403      moved
benchmarks:run_new                GET  login    403      403      403      403      403      403      403      ok       ok
benchmarks:run_new                POST login    403      403      403      403      403      403      403      422      422
benchmarks:run                    GET  login    403      403      403      403      403      403      ok       403      ok
benchmarks:run_export             GET  login    403      403      403      403      403      403      ok       403      ok
benchmarks:run_progress           GET  login    403      403      403      403      403      403      ok       403      ok
benchmarks:run_pause              POST login    403      403      403      403      403      403      403      moved    moved
benchmarks:run_resume             POST login    403      403      403      403      403      403      403      moved    moved
benchmarks:run_cancel             POST login    403      403      403      403      403      403      403      moved    moved
benchmarks:run_cap                POST login    403      403      403      403      403      403      403      moved    moved
benchmarks:run_delete             GET  login    403      403      403      403      403      403      403      403      ok
benchmarks:run_delete             POST login    403      403      403      403      403      403      403      403      moved
benchmarks:judging_choose         POST login    403      403      403      403      403      403      403      moved    moved
benchmarks:judge_list             GET  login    403      403      403      403      403      403      ok       403      ok
benchmarks:judging_new            GET  login    403      403      403      403      403      403      403      ok       ok
benchmarks:judging_new            POST login    403      403      403      403      403      403      403      422      422
benchmarks:branch_new             GET  login    403      403      403      403      403      403      403      ok       ok
benchmarks:branch_new             POST login    403      403      403      403      403      403      403      422      422
benchmarks:judge_try              GET  login    403      403      403      403      403      403      403      ok       ok
benchmarks:judge_try              POST login    403      403      403      403      403      403      403      422      422
benchmarks:judge_trial            GET  login    403      403      403      403      403      403      403      ok       ok
benchmarks:run_verification       GET  login    403      403      403      403      403      403      ok       403      ok
benchmarks:run_verification       POST login    403      403      403      403      403      403      403      moved    moved
benchmarks:training_rows          GET  login    403      403      403      403      403      403      404      403      404
benchmarks:row_decide             POST login    403      403      403      403      403      403      403      404      404
benchmarks:prompts                GET  login    403      403      403      403      403      403      ok       403      ok
analysis:trajectory_list          GET  login    403      403      403      403      403      403      ok       403      ok
analysis:search_completions       GET  login    403      403      403      403      403      403      ok       403      ok
analysis:trajectory_list_export   GET  login    403      403      403      403      403      403      ok       403      ok
analysis:read_facts               POST login    403      403      403      403      403      403      moved    403      moved
analysis:facts_progress           GET  login    403      403      403      403      403      403      ok       403      ok
analysis:trajectory               GET  login    403      403      403      403      403      403      ok       403      ok
analysis:trajectory_export        GET  login    403      403      403      403      403      403      ok       403      ok
analysis:trajectory_image         GET  login    403      403      403      403      403      403      404      403      404
analysis:trajectory_messages      GET  login    403      403      403      403      403      403      404      403      404
analysis:trajectory_message       GET  login    403      403      403      403      403      403      404      403      404
analysis:trajectory_turns         GET  login    403      403      403      403      403      403      moved    403      moved
analysis:trajectory_scores        GET  login    403      403      403      403      403      403      ok       403      ok
analysis:label_put                POST login    403      403      403      403      403      403      422      403      422
analysis:label_off                POST login    403      403      403      403      403      403      moved    403      moved
analysis:note_add                 POST login    403      403      403      403      403      403      422      403      422
analysis:note_change              POST login    403      403      403      403      403      403      422      403      422
analysis:failure_labels           GET  login    403      403      403      403      403      403      ok       403      ok
analysis:failure_labels           POST login    403      403      403      403      403      403      422      403      422
analysis:label_sets               GET  login    403      403      403      403      403      403      ok       403      ok
analysis:label_sets               POST login    403      403      403      403      403      403      422      403      422
analysis:label_set                GET  login    403      403      403      403      403      403      ok       403      ok
analysis:label_set                POST login    403      403      403      403      403      403      403      403      422
analysis:label_set_csv            GET  login    403      403      403      403      403      403      ok       403      ok
analysis:failure_label            GET  login    403      403      403      403      403      403      ok       403      ok
analysis:failure_label            POST login    403      403      403      403      403      403      422      403      422
benchmarks:trajectory_import      GET  login    403      403      403      403      403      403      403      ok       ok
benchmarks:trajectory_import      POST login    403      403      403      403      403      403      403      422      422
benchmarks:run_turns              GET  login    403      403      403      403      403      403      403      404      404
benchmarks:run_turns              POST login    403      403      403      403      403      403      403      404      404
benchmarks:import_job             GET  login    403      403      403      403      403      403      403      ok       ok
benchmarks:import_delete          GET  login    403      403      403      403      403      403      403      403      ok
benchmarks:import_delete          POST login    403      403      403      403      403      403      403      403      moved
benchmarks:import_progress        GET  login    403      403      403      403      403      403      403      ok       ok
benchmarks:dataset_job            GET  login    403      403      403      403      403      403      403      ok       ok
benchmarks:dataset_progress       GET  login    403      403      403      403      403      403      403      ok       ok
benchmarks:trajectory_exchanges   GET  login    403      403      403      403      403      403      ok       403      ok
benchmarks:trajectory_retry       POST login    403      403      403      403      403      403      403      moved    moved
benchmarks:trajectory_restart     POST login    403      403      403      403      403      403      403      moved    moved
analysis:branches                 GET  login    403      403      403      403      403      403      404      403      404
analysis:branches_figure          GET  login    403      403      403      403      403      403      404      403      404
analysis:branches_table           GET  login    403      403      403      403      403      403      404      403      404
analysis:compare                  GET  login    403      403      403      403      403      403      ok       403      ok
analysis:compare_runs             GET  login    403      403      403      403      403      403      ok       403      ok
analysis:compare_runs_table       GET  login    403      403      403      403      403      403      ok       403      ok

# Home and studies
#                                      stranger nobody   annot    outsider research manager  observer viewer   starter  admin
annotation:home                   GET  login    ok       ok       ok       ok       ok       ok       ok       ok       ok
devtools:style_guide              GET  login    403      403      403      403      403      403      403      403      ok
devtools:style_guide_desk         GET  login    403      403      403      403      403      403      403      403      ok
devtools:style_guide_figure       GET  login    403      403      403      403      403      403      403      403      ok
annotation:demo                   GET  login    ok       ok       ok       ok       ok       ok       ok       ok       ok
annotation:load_again             POST login    403      403      403      403      403      403      403      moved    moved
annotation:demo_delete            GET  login    403      403      403      403      403      403      403      403      ok
annotation:demo_delete            POST login    403      403      403      403      403      403      403      403      moved
annotation:away                   GET  ok       ok       ok       ok       ok       ok       ok       ok       ok       ok
annotation:away_worker            GET  ok       ok       ok       ok       ok       ok       ok       ok       ok       ok
annotation:desk_keys              POST login    422      422      422      422      422      422      422      422      422
annotation:study_list             GET  login    ok       ok       ok       ok       ok       ok       ok       ok       ok
annotation:study_new              GET  login    403      403      403      403      403      403      403      ok       ok
annotation:study_new              POST login    403      403      403      403      403      403      403      422      422
annotation:filter_check           GET  login    403      403      403      403      403      403      403      404      404
annotation:study_design           GET  login    404      403      404      ok       ok       ok       404      404      ok
annotation:design_csv             GET  login    404      403      404      ok       ok       ok       404      404      ok
annotation:design_json            GET  login    404      403      404      ok       ok       ok       404      404      ok
annotation:study_launch           POST login    404      403      404      403      moved    403      404      404      moved
annotation:questionnaire_list     GET  login    403      403      403      403      403      403      403      ok       ok
annotation:questionnaire_new      GET  login    403      403      403      403      403      403      403      ok       ok
annotation:questionnaire_new      POST login    403      403      403      403      403      403      403      422      422
annotation:questionnaire          GET  login    403      403      403      403      403      403      403      ok       ok
annotation:study                  GET  login    404      ok       404      ok       ok       ok       404      404      ok
annotation:study_status           POST login    404      403      404      403      moved    403      404      404      moved
annotation:study_export           GET  login    404      403      404      ok       ok       403      404      404      ok
annotation:study_download         GET  login    404      403      404      422      422      403      404      404      422
annotation:information            GET  login    404      404      404      404      404      404      404      404      404
annotation:consent                GET  login    404      404      404      404      404      404      404      404      404
annotation:guidelines             GET  login    404      ok       404      404      404      404      404      404      404
annotation:guidelines             POST login    404      moved    404      404      404      404      404      404      404
annotation:training               GET  login    404      404      404      404      404      404      404      404      404
annotation:training_feedback      GET  login    404      404      404      404      404      404      404      404      404
annotation:feedback               GET  login    404      404      404      404      404      404      404      404      404
annotation:break                  GET  login    404      moved    404      404      404      404      404      404      404
annotation:message_read           POST login    404      moved    404      404      404      404      404      404      404
annotation:study_texts            GET  login    404      403      404      403      ok       403      404      404      ok
annotation:study_texts            POST login    404      403      404      403      422      403      404      404      422
annotation:join                   GET  404      404      404      404      404      404      404      404      404      404
annotation:join_link              GET  moved    moved    moved    moved    moved    moved    moved    moved    moved    moved
annotation:finished               GET  login    404      404      404      404      404      404      404      404      404
annotation:study_recruiting       GET  login    404      403      404      403      ok       403      404      404      ok
annotation:study_recruiting       POST login    404      403      404      403      422      403      404      404      422
annotation:study_reminders        GET  login    404      403      404      403      ok       403      404      404      ok
annotation:study_reminders        POST login    404      403      404      403      422      403      404      404      422
annotation:invite_mail            POST login    404      403      404      403      422      403      404      404      422
annotation:study_payment          GET  login    404      403      404      403      ok       403      404      404      ok
annotation:study_payment_file     GET  login    404      403      404      403      ok       403      404      404      ok
annotation:recruiting_payment     GET  login    404      403      404      403      ok       403      404      404      ok
annotation:recruiting_payment     POST login    404      403      404      403      moved    403      404      404      moved
annotation:recruiting_payment_file GET  login    404      403      404      403      ok       403      404      404      ok
annotation:recruiting_link_revoke POST login    404      403      404      403      moved    403      404      404      moved
annotation:recruiting_approve     POST login    404      403      404      403      moved    403      404      404      moved
annotation:recruit_change         POST login    404      403      404      403      moved    403      404      404      moved
annotation:recruit                GET  404      404      404      404      404      404      404      404      404      404
annotation:recruit_link           GET  moved    moved    moved    moved    moved    moved    moved    moved    moved    moved
annotation:next_item              GET  login    404      moved    404      moved    moved    moved    404      404      moved
annotation:desk                   GET  login    404      ok       404      404      404      404      404      404      404
annotation:desk                   POST login    404      422      404      404      404      404      404      404      404
annotation:answers                POST login    404      ok       404      404      404      404      404      404      404
annotation:submit                 POST login    404      422      404      404      404      404      404      404      404
annotation:image                  GET  login    404      404      404      404      404      404      404      404      404
annotation:training_desk          GET  login    404      404      404      404      404      404      404      404      404
annotation:training_desk          POST login    404      404      404      404      404      404      404      404      404
annotation:training_answers       POST login    404      404      404      404      404      404      404      404      404
annotation:training_submit        POST login    404      404      404      404      404      404      404      404      404
annotation:training_image         GET  login    404      404      404      404      404      404      404      404      404
annotation:background_desk        GET  login    404      404      404      404      404      404      404      404      404
annotation:background_desk        POST login    404      404      404      404      404      404      404      404      404
annotation:background_answers     POST login    404      404      404      404      404      404      404      404      404
annotation:background_submit      POST login    404      404      404      404      404      404      404      404      404
annotation:background_image       GET  login    404      404      404      404      404      404      404      404      404

# Running a study
#                                      stranger nobody   annot    outsider research manager  observer viewer   starter  admin
annotation:study_progress         GET  login    404      403      404      ok       ok       ok       404      404      ok
annotation:study_settings         GET  login    404      403      404      403      ok       403      404      404      ok
annotation:study_settings         POST login    404      403      404      403      422      403      404      404      422
annotation:study_delete           GET  login    404      403      404      403      ok       403      404      404      ok
annotation:study_delete           POST login    404      403      404      403      moved    403      404      404      moved
annotation:study_people           GET  login    404      403      404      ok       ok       ok       404      404      ok
annotation:study_people           POST login    404      403      404      403      422      403      404      404      422
annotation:member_remove          POST login    404      403      404      403      moved    403      404      404      moved
annotation:annotator              GET  login    404      403      404      ok       ok       ok       404      404      ok
annotation:annotator_change       POST login    404      403      404      403      moved    403      404      404      moved
annotation:submission             GET  login    404      403      404      403      ok       403      404      404      ok
annotation:submission             POST login    404      403      404      403      moved    403      404      404      moved
annotation:invite_make            POST login    404      403      404      403      422      403      404      404      422
annotation:invite_revoke          POST login    404      403      404      403      moved    403      404      404      moved
annotation:study_items            GET  login    404      403      404      ok       ok       ok       404      404      ok
annotation:item_list              GET  login    404      403      404      ok       ok       ok       404      404      ok
annotation:study_more             GET  login    404      403      404      403      ok       403      404      404      ok
annotation:study_more             POST login    404      403      404      403      422      403      404      404      422
annotation:study_specials         GET  login    404      403      404      403      ok       403      404      404      ok
annotation:study_specials         POST login    404      403      404      403      ok       403      404      404      ok
annotation:study_item             GET  login    404      403      404      ok       ok       ok       404      404      ok
annotation:item_change            POST login    404      403      404      403      moved    403      404      404      moved
annotation:study_messages         GET  login    404      403      404      403      ok       403      404      404      ok
annotation:study_messages         POST login    404      403      404      403      422      403      404      404      422

# Adjudication, the record, leaving; nobody has answered anything yet, so there is no place to decide
#                                      stranger nobody   annot    outsider research manager  observer viewer   starter  admin
annotation:study_adjudication     GET  login    404      403      404      403      ok       403      404      404      ok
annotation:adjudicate             GET  login    404      403      404      403      404      403      404      404      404
annotation:adjudicate_image       GET  login    404      403      404      403      404      403      404      404      404
annotation:study_record           GET  login    404      403      404      403      ok       403      404      404      ok
annotation:study_record_file      GET  login    404      403      404      403      ok       403      404      404      ok
annotation:all_records            GET  login    403      403      403      403      403      403      403      403      ok
annotation:all_records_file       GET  login    403      403      403      403      403      403      403      403      ok
annotation:leave                  GET  login    404      ok       404      404      404      404      404      404      404
annotation:leave                  POST login    404      moved    404      404      404      404      404      404      404
annotation:study_unblind          GET  login    404      403      404      403      ok       403      404      404      ok
annotation:study_unblind          POST login    404      403      404      403      422      403      404      404      422
annotation:annotator_leave        GET  login    404      403      404      403      ok       403      404      404      ok
annotation:annotator_leave        POST login    404      403      404      403      422      403      404      404      422
annotation:annotator_unblind      GET  login    404      403      404      403      ok       403      404      404      ok
annotation:annotator_unblind      POST login    404      403      404      403      422      403      404      404      422
annotation:erase                  GET  login    403      403      403      403      403      403      403      403      ok
annotation:erase                  POST login    403      403      403      403      403      403      403      403      422

# Analysis; no figure and no table has the name that is asked for here
#                                      stranger nobody   annot    outsider research manager  observer viewer   starter  admin
analysis:index                    GET  login    403      403      403      403      403      403      ok       403      ok
analysis:replicates               GET  login    403      403      403      403      403      403      ok       403      ok
analysis:replicates_table         GET  login    403      403      403      403      403      403      404      403      404
analysis:of_study                 GET  login    403      403      403      403      403      403      404      403      moved
analysis:leaderboard              GET  login    403      403      403      403      403      403      ok       403      ok
analysis:leaderboard_details      GET  login    403      403      403      403      403      403      moved    403      moved
analysis:leaderboard_figure       GET  login    403      403      403      403      403      403      404      403      404
analysis:leaderboard_table        GET  login    403      403      403      403      403      403      404      403      404
analysis:compare-models           GET  login    403      403      403      403      403      403      ok       403      ok
analysis:compare-models_details   GET  login    403      403      403      403      403      403      moved    403      moved
analysis:compare-models_figure    GET  login    403      403      403      403      403      403      404      403      404
analysis:compare-models_table     GET  login    403      403      403      403      403      403      404      403      404
analysis:failures                 GET  login    403      403      403      403      403      403      ok       403      ok
analysis:labels                   GET  login    403      403      403      403      403      403      ok       403      ok
analysis:labels_details           GET  login    403      403      403      403      403      403      moved    403      moved
analysis:labels_figure            GET  login    403      403      403      403      403      403      404      403      404
analysis:labels_table             GET  login    403      403      403      403      403      403      404      403      404
analysis:labels_latex             GET  login    403      403      403      403      403      403      404      403      404
analysis:labels_pdf               GET  login    403      403      403      403      403      403      501      403      501
analysis:labels_file              GET  login    403      403      403      403      403      403      ok       403      ok
analysis:failures_details         GET  login    403      403      403      403      403      403      moved    403      moved
analysis:failures_figure          GET  login    403      403      403      403      403      403      404      403      404
analysis:failures_table           GET  login    403      403      403      403      403      403      404      403      404
analysis:failures_latex           GET  login    403      403      403      403      403      403      404      403      404
analysis:failures_pdf             GET  login    403      403      403      403      403      403      501      403      501
analysis:failures_file            GET  login    403      403      403      403      403      403      ok       403      ok
analysis:rubric                   GET  login    403      403      403      403      403      403      ok       403      ok
analysis:rubric_details           GET  login    403      403      403      403      403      403      moved    403      moved
analysis:rubric_figure            GET  login    403      403      403      403      403      403      404      403      404
analysis:rubric_table             GET  login    403      403      403      403      403      403      404      403      404
analysis:decline                  GET  login    403      403      403      403      403      403      ok       403      ok
analysis:decline_details          GET  login    403      403      403      403      403      403      moved    403      moved
analysis:decline_later            GET  login    403      403      403      403      403      403      moved    403      moved
analysis:decline_later            POST login    403      403      403      403      403      403      moved    403      moved
analysis:decline_figure           GET  login    403      403      403      403      403      403      404      403      404
analysis:decline_table            GET  login    403      403      403      403      403      403      404      403      404
analysis:agreement                GET  login    403      403      403      403      403      403      ok       403      ok
analysis:agreement_details        GET  login    403      403      403      403      403      403      moved    403      moved
analysis:agreement_figure         GET  login    403      403      403      403      403      403      404      403      404
analysis:agreement_table          GET  login    403      403      403      403      403      403      404      403      404
analysis:agreement_later          GET  login    403      403      403      403      403      403      404      403      404
analysis:judges                   GET  login    403      403      403      403      403      403      ok       403      ok
analysis:judges_details           GET  login    403      403      403      403      403      403      moved    403      moved
analysis:judges_figure            GET  login    403      403      403      403      403      403      404      403      404
analysis:judges_table             GET  login    403      403      403      403      403      403      404      403      404
analysis:dispersion               GET  login    403      403      403      403      403      403      ok       403      ok
analysis:dispersion_details       GET  login    403      403      403      403      403      403      moved    403      moved
analysis:dispersion_later         GET  login    403      403      403      403      403      403      moved    403      moved
analysis:dispersion_later         POST login    403      403      403      403      403      403      moved    403      moved
analysis:dispersion_figure        GET  login    403      403      403      403      403      403      404      403      404
analysis:dispersion_table         GET  login    403      403      403      403      403      403      404      403      404
analysis:judgings                 GET  login    403      403      403      403      403      403      ok       403      ok
analysis:judgings_details         GET  login    403      403      403      403      403      403      moved    403      moved
analysis:judgings_later           GET  login    403      403      403      403      403      403      moved    403      moved
analysis:judgings_later           POST login    403      403      403      403      403      403      moved    403      moved
analysis:judgings_figure          GET  login    403      403      403      403      403      403      404      403      404
analysis:judgings_table           GET  login    403      403      403      403      403      403      404      403      404
analysis:judgings_latex           GET  login    403      403      403      403      403      403      404      403      404
analysis:judgings_pdf             GET  login    403      403      403      403      403      403      501      403      501
analysis:judgings_file            GET  login    403      403      403      403      403      403      ok       403      ok
analysis:breakdown                GET  login    403      403      403      403      403      403      ok       403      ok
analysis:asking                   GET  login    403      403      403      403      403      403      ok       403      ok
analysis:efficiency               GET  login    403      403      403      403      403      403      ok       403      ok
analysis:conditions               GET  login    403      403      403      403      403      403      ok       403      ok
analysis:breakdown_details        GET  login    403      403      403      403      403      403      moved    403      moved
analysis:asking_details           GET  login    403      403      403      403      403      403      moved    403      moved
analysis:efficiency_details       GET  login    403      403      403      403      403      403      moved    403      moved
analysis:conditions_details       GET  login    403      403      403      403      403      403      moved    403      moved
analysis:breakdown_figure         GET  login    403      403      403      403      403      403      404      403      404
analysis:asking_figure            GET  login    403      403      403      403      403      403      404      403      404
analysis:efficiency_figure        GET  login    403      403      403      403      403      403      404      403      404
analysis:conditions_figure        GET  login    403      403      403      403      403      403      404      403      404
analysis:breakdown_table          GET  login    403      403      403      403      403      403      404      403      404
analysis:asking_table             GET  login    403      403      403      403      403      403      404      403      404
analysis:efficiency_table         GET  login    403      403      403      403      403      403      404      403      404
analysis:conditions_table         GET  login    403      403      403      403      403      403      404      403      404
analysis:effects                  GET  login    403      403      403      403      403      403      ok       403      ok
analysis:effects_details          GET  login    403      403      403      403      403      403      moved    403      moved
analysis:effects_figure           GET  login    403      403      403      403      403      403      404      403      404
analysis:effects_table            GET  login    403      403      403      403      403      403      404      403      404
analysis:refinement               GET  login    403      403      403      403      403      403      ok       403      ok
analysis:refinement_details       GET  login    403      403      403      403      403      403      moved    403      moved
analysis:refinement_figure        GET  login    403      403      403      403      403      403      404      403      404
analysis:refinement_table         GET  login    403      403      403      403      403      403      404      403      404
analysis:sweeps                   GET  login    403      403      403      403      403      403      ok       403      ok
analysis:sweeps_details           GET  login    403      403      403      403      403      403      moved    403      moved
analysis:sweeps_later             GET  login    403      403      403      403      403      403      moved    403      moved
analysis:sweeps_later             POST login    403      403      403      403      403      403      moved    403      moved
analysis:sweeps_figure            GET  login    403      403      403      403      403      403      404      403      404
analysis:sweeps_table             GET  login    403      403      403      403      403      403      404      403      404
analysis:tools                    GET  login    403      403      403      403      403      403      ok       403      ok
analysis:forgetting               GET  login    403      403      403      403      403      403      ok       403      ok
analysis:uncertainty              GET  login    403      403      403      403      403      403      ok       403      ok
analysis:tools_details            GET  login    403      403      403      403      403      403      moved    403      moved
analysis:forgetting_details       GET  login    403      403      403      403      403      403      moved    403      moved
analysis:uncertainty_details      GET  login    403      403      403      403      403      403      moved    403      moved
analysis:tools_figure             GET  login    403      403      403      403      403      403      404      403      404
analysis:forgetting_figure        GET  login    403      403      403      403      403      403      404      403      404
analysis:uncertainty_figure       GET  login    403      403      403      403      403      403      404      403      404
analysis:tools_table              GET  login    403      403      403      403      403      403      404      403      404
analysis:forgetting_table         GET  login    403      403      403      403      403      403      404      403      404
analysis:uncertainty_table        GET  login    403      403      403      403      403      403      404      403      404
analysis:verdicts                 GET  login    403      403      403      403      403      403      ok       403      ok
analysis:verdicts_details         GET  login    403      403      403      403      403      403      moved    403      moved
analysis:verdicts_figure          GET  login    403      403      403      403      403      403      404      403      404
analysis:verdicts_table           GET  login    403      403      403      403      403      403      404      403      404
analysis:simulated-users          GET  login    403      403      403      403      403      403      ok       403      ok
analysis:simulated-users_details  GET  login    403      403      403      403      403      403      moved    403      moved
analysis:simulated-users_figure   GET  login    403      403      403      403      403      403      404      403      404
analysis:simulated-users_table    GET  login    403      403      403      403      403      403      404      403      404
analysis:outcomes                 GET  login    403      403      403      403      403      403      ok       403      ok
analysis:outcomes_details         GET  login    403      403      403      403      403      403      moved    403      moved
analysis:outcomes_figure          GET  login    403      403      403      403      403      403      404      403      404
analysis:outcomes_table           GET  login    403      403      403      403      403      403      404      403      404
analysis:ratings                  GET  login    403      403      403      403      403      403      ok       403      ok
analysis:ratings_details          GET  login    403      403      403      403      403      403      moved    403      moved
analysis:ratings_figure           GET  login    403      403      403      403      403      403      404      403      404
analysis:ratings_table            GET  login    403      403      403      403      403      403      404      403      404
analysis:turn-scores              GET  login    403      403      403      403      403      403      ok       403      ok
analysis:turn-scores_details      GET  login    403      403      403      403      403      403      moved    403      moved
analysis:turn-scores_later        GET  login    403      403      403      403      403      403      404      403      404
analysis:turn-scores_later        POST login    403      403      403      403      403      403      404      403      404
analysis:turn-scores_figure       GET  login    403      403      403      403      403      403      404      403      404
analysis:turn-scores_table        GET  login    403      403      403      403      403      403      404      403      404
analysis:violation-check          GET  login    403      403      403      403      403      403      ok       403      ok
analysis:violation-check_details  GET  login    403      403      403      403      403      403      moved    403      moved
analysis:violation-check_figure   GET  login    403      403      403      403      403      403      404      403      404
analysis:violation-check_table    GET  login    403      403      403      403      403      403      404      403      404
analysis:filter-check             GET  login    403      403      403      403      403      403      ok       403      ok
analysis:filter-check_details     GET  login    403      403      403      403      403      403      moved    403      moved
analysis:filter-check_figure      GET  login    403      403      403      403      403      403      404      403      404
analysis:filter-check_table       GET  login    403      403      403      403      403      403      404      403      404
analysis:preferences              GET  login    403      403      403      403      403      403      ok       403      ok
analysis:preferences_details      GET  login    403      403      403      403      403      403      moved    403      moved
analysis:preferences_figure       GET  login    403      403      403      403      403      403      404      403      404
analysis:preferences_table        GET  login    403      403      403      403      403      403      404      403      404

# Quality of a study's answers; no figure and no table has the name that is asked for here
analysis:study_quality            GET  login    404      403      404      ok       ok       403      404      404      ok
analysis:study_quality_figure     GET  login    404      403      404      404      404      403      404      404      404
analysis:study_quality_table      GET  login    404      403      404      404      404      403      404      404      404
analysis:moved                    GET  login    403      403      403      403      403      403      moved    403      moved
analysis:moved_below              GET  login    403      403      403      403      403      403      moved    403      moved

# Tables of ratings: this one is the viewer's own
#                                      stranger nobody   annot    outsider research manager  observer viewer   starter  admin
analysis:table_list               GET  login    403      403      403      403      403      403      ok       403      ok
analysis:table_new                GET  login    403      403      403      403      403      403      ok       403      ok
analysis:table_new                POST login    403      403      403      403      403      403      422      403      422
analysis:table_example            GET  login    403      403      403      403      403      403      ok       403      ok
analysis:table_check              GET  login    403      403      403      403      403      403      404      403      404
analysis:table_check_progress     GET  login    403      403      403      403      403      403      404      403      404
analysis:rating_table             GET  login    403      403      403      403      403      403      ok       403      ok
analysis:rating_table_later       GET  login    403      403      403      403      403      403      moved    403      moved
analysis:rating_table_later       POST login    403      403      403      403      403      403      moved    403      moved
analysis:rating_table_figure      GET  login    403      403      403      403      403      403      404      403      404
analysis:rating_table_latex       GET  login    403      403      403      403      403      403      404      403      404
analysis:rating_table_pdf         GET  login    403      403      403      403      403      403      501      403      501
analysis:rating_table_csv         GET  login    403      403      403      403      403      403      404      403      404
analysis:rating_table_rename      POST login    403      403      403      403      403      403      moved    403      moved
analysis:rating_table_share       POST login    403      403      403      403      403      403      moved    403      moved
analysis:rating_table_delete      POST login    403      403      403      403      403      403      moved    403      moved

# What is carried into a paper: tables as LaTeX, figures as PDF, reports in one file
#                                      stranger nobody   annot    outsider research manager  observer viewer   starter  admin
analysis:experiment_report        GET  login    403      403      403      403      403      403      ok       403      ok
analysis:experiment_later         GET  login    403      403      403      403      403      403      404      403      404
analysis:experiment_file          GET  login    403      403      403      403      403      403      404      403      404
analysis:experiment_folder        GET  login    403      403      403      403      403      403      404      403      404
analysis:experiment_figure        GET  login    403      403      403      403      403      403      404      403      404
analysis:experiment_table         GET  login    403      403      403      403      403      403      404      403      404
analysis:experiment_latex         GET  login    403      403      403      403      403      403      404      403      404
analysis:leaderboard_latex        GET  login    403      403      403      403      403      403      404      403      404
analysis:leaderboard_pdf          GET  login    403      403      403      403      403      403      501      403      501
analysis:leaderboard_file         GET  login    403      403      403      403      403      403      ok       403      ok
analysis:compare-models_latex     GET  login    403      403      403      403      403      403      404      403      404
analysis:compare-models_pdf       GET  login    403      403      403      403      403      403      501      403      501
analysis:compare-models_file      GET  login    403      403      403      403      403      403      ok       403      ok
analysis:rubric_latex             GET  login    403      403      403      403      403      403      404      403      404
analysis:rubric_pdf               GET  login    403      403      403      403      403      403      501      403      501
analysis:rubric_file              GET  login    403      403      403      403      403      403      ok       403      ok
analysis:decline_latex            GET  login    403      403      403      403      403      403      404      403      404
analysis:decline_pdf              GET  login    403      403      403      403      403      403      501      403      501
analysis:decline_file             GET  login    403      403      403      403      403      403      ok       403      ok
analysis:agreement_latex          GET  login    403      403      403      403      403      403      404      403      404
analysis:agreement_pdf            GET  login    403      403      403      403      403      403      501      403      501
analysis:agreement_file           GET  login    403      403      403      403      403      403      ok       403      ok
analysis:judges_latex             GET  login    403      403      403      403      403      403      404      403      404
analysis:judges_pdf               GET  login    403      403      403      403      403      403      501      403      501
analysis:judges_file              GET  login    403      403      403      403      403      403      ok       403      ok
analysis:dispersion_latex         GET  login    403      403      403      403      403      403      404      403      404
analysis:dispersion_pdf           GET  login    403      403      403      403      403      403      501      403      501
analysis:dispersion_file          GET  login    403      403      403      403      403      403      ok       403      ok
analysis:breakdown_latex          GET  login    403      403      403      403      403      403      404      403      404
analysis:asking_latex             GET  login    403      403      403      403      403      403      404      403      404
analysis:efficiency_latex         GET  login    403      403      403      403      403      403      404      403      404
analysis:conditions_latex         GET  login    403      403      403      403      403      403      404      403      404
analysis:breakdown_pdf            GET  login    403      403      403      403      403      403      501      403      501
analysis:asking_pdf               GET  login    403      403      403      403      403      403      501      403      501
analysis:efficiency_pdf           GET  login    403      403      403      403      403      403      501      403      501
analysis:conditions_pdf           GET  login    403      403      403      403      403      403      501      403      501
analysis:breakdown_file           GET  login    403      403      403      403      403      403      ok       403      ok
analysis:asking_file              GET  login    403      403      403      403      403      403      ok       403      ok
analysis:efficiency_file          GET  login    403      403      403      403      403      403      ok       403      ok
analysis:conditions_file          GET  login    403      403      403      403      403      403      ok       403      ok
analysis:effects_latex            GET  login    403      403      403      403      403      403      404      403      404
analysis:effects_pdf              GET  login    403      403      403      403      403      403      501      403      501
analysis:effects_file             GET  login    403      403      403      403      403      403      ok       403      ok
analysis:refinement_latex         GET  login    403      403      403      403      403      403      404      403      404
analysis:refinement_pdf           GET  login    403      403      403      403      403      403      501      403      501
analysis:refinement_file          GET  login    403      403      403      403      403      403      ok       403      ok
analysis:sweeps_latex             GET  login    403      403      403      403      403      403      404      403      404
analysis:sweeps_pdf               GET  login    403      403      403      403      403      403      501      403      501
analysis:sweeps_file              GET  login    403      403      403      403      403      403      ok       403      ok
analysis:tools_latex              GET  login    403      403      403      403      403      403      404      403      404
analysis:forgetting_latex         GET  login    403      403      403      403      403      403      404      403      404
analysis:uncertainty_latex        GET  login    403      403      403      403      403      403      404      403      404
analysis:tools_pdf                GET  login    403      403      403      403      403      403      501      403      501
analysis:forgetting_pdf           GET  login    403      403      403      403      403      403      501      403      501
analysis:uncertainty_pdf          GET  login    403      403      403      403      403      403      501      403      501
analysis:tools_file               GET  login    403      403      403      403      403      403      ok       403      ok
analysis:forgetting_file          GET  login    403      403      403      403      403      403      ok       403      ok
analysis:uncertainty_file         GET  login    403      403      403      403      403      403      ok       403      ok
analysis:verdicts_latex           GET  login    403      403      403      403      403      403      404      403      404
analysis:verdicts_pdf             GET  login    403      403      403      403      403      403      501      403      501
analysis:verdicts_file            GET  login    403      403      403      403      403      403      ok       403      ok
analysis:simulated-users_latex    GET  login    403      403      403      403      403      403      404      403      404
analysis:simulated-users_pdf      GET  login    403      403      403      403      403      403      501      403      501
analysis:simulated-users_file     GET  login    403      403      403      403      403      403      ok       403      ok
analysis:outcomes_latex           GET  login    403      403      403      403      403      403      404      403      404
analysis:outcomes_pdf             GET  login    403      403      403      403      403      403      501      403      501
analysis:outcomes_file            GET  login    403      403      403      403      403      403      ok       403      ok
analysis:ratings_latex            GET  login    403      403      403      403      403      403      404      403      404
analysis:ratings_pdf              GET  login    403      403      403      403      403      403      501      403      501
analysis:ratings_file             GET  login    403      403      403      403      403      403      ok       403      ok
analysis:turn-scores_latex        GET  login    403      403      403      403      403      403      404      403      404
analysis:turn-scores_pdf          GET  login    403      403      403      403      403      403      501      403      501
analysis:turn-scores_file         GET  login    403      403      403      403      403      403      ok       403      ok
analysis:violation-check_latex    GET  login    403      403      403      403      403      403      404      403      404
analysis:violation-check_pdf      GET  login    403      403      403      403      403      403      501      403      501
analysis:violation-check_file     GET  login    403      403      403      403      403      403      ok       403      ok
analysis:filter-check_latex       GET  login    403      403      403      403      403      403      404      403      404
analysis:filter-check_pdf         GET  login    403      403      403      403      403      403      501      403      501
analysis:filter-check_file        GET  login    403      403      403      403      403      403      ok       403      ok
analysis:preferences_latex        GET  login    403      403      403      403      403      403      404      403      404
analysis:preferences_pdf          GET  login    403      403      403      403      403      403      501      403      501
analysis:preferences_file         GET  login    403      403      403      403      403      403      ok       403      ok
analysis:run_file                 GET  login    403      403      403      403      403      403      ok       403      ok
analysis:study_file               GET  login    404      403      404      ok       ok       403      404      404      ok
analysis:study_quality_latex      GET  login    404      403      404      404      404      403      404      404      404
analysis:study_quality_pdf        GET  login    404      403      404      501      501      403      404      404      501

# A paper that the viewer keeps to herself, with a pin of the leaderboard
#                                      stranger nobody   annot    outsider research manager  observer viewer   starter  admin
analysis:paper_list               GET  login    403      403      403      403      403      403      ok       403      ok
analysis:paper_list               POST login    403      403      403      403      403      403      422      403      422
analysis:paper_pin                GET  login    403      403      403      403      403      403      ok       403      ok
analysis:paper_pin                POST login    403      403      403      403      403      403      422      403      422
analysis:paper                    GET  login    403      403      403      403      403      403      ok       403      404
analysis:paper                    POST login    403      403      403      403      403      403      422      403      404
analysis:paper_versions           GET  login    403      403      403      403      403      403      ok       403      404
analysis:paper_restore            POST login    403      403      403      403      403      403      moved    403      404
analysis:paper_share              POST login    403      403      403      403      403      403      moved    403      404
analysis:paper_delete             POST login    403      403      403      403      403      403      moved    403      404
analysis:paper_pin_settings       GET  login    403      403      403      403      403      403      moved    403      404
analysis:paper_pin_now            GET  login    403      403      403      403      403      403      ok       403      404
analysis:paper_figure             GET  login    403      403      403      403      403      403      ok       403      404
analysis:paper_tex                GET  login    403      403      403      403      403      403      ok       403      404
analysis:paper_html               GET  login    403      403      403      403      403      403      ok       403      404
analysis:paper_pdf                GET  login    403      403      403      403      403      403      501      403      404
analysis:paper_zip                GET  login    403      403      403      403      403      403      ok       403      404

# A registration of the administrator, about a dataset
#                                      stranger nobody   annot    outsider research manager  observer viewer   starter  admin
analysis:registration_list        GET  login    403      403      403      403      403      403      ok       403      ok
analysis:registration_list        POST login    403      403      403      403      403      403      422      403      422
analysis:registration_new         GET  login    403      403      403      403      403      403      ok       403      ok
analysis:registration             GET  login    403      403      403      403      403      403      ok       403      ok
analysis:registration_withdraw    POST login    403      403      403      403      403      403      403      403      moved
analysis:registration_json        GET  login    403      403      403      403      403      403      ok       403      ok
analysis:registration_text        GET  login    403      403      403      403      403      403      ok       403      ok

# Filters that are kept, and what failed in a list grouped by its words; the saved view is the viewer's
#                                      stranger nobody   annot    outsider research manager  observer viewer   starter  admin
analysis:saved_view_save          POST login    403      403      403      403      403      403      404      403      404
analysis:saved_view_rename        POST login    403      403      403      403      403      403      moved    403      404
analysis:saved_view_share         POST login    403      403      403      403      403      403      moved    403      404
analysis:saved_view_delete        POST login    403      403      403      403      403      403      moved    403      404
analysis:trajectory_groups        GET  login    403      403      403      403      403      403      ok       403      ok
analysis:question_new             POST login    403      403      403      403      403      403      403      403      moved
analysis:question                 GET  login    403      403      403      403      403      403      ok       403      ok
analysis:question                 POST login    403      403      403      403      403      403      403      403      moved
analysis:question_check           GET  login    403      403      403      403      403      403      ok       403      ok
analysis:question_check           POST login    403      403      403      403      403      403      404      403      404
analysis:question_progress        GET  login    403      403      403      403      403      403      ok       403      ok
analysis:question_csv             GET  login    403      403      403      403      403      403      404      403      404
analysis:clusters_new             POST login    403      403      403      403      403      403      403      403      moved
analysis:clusters                 GET  login    403      403      403      403      403      403      ok       403      ok
analysis:clusters                 POST login    403      403      403      403      403      403      403      403      moved
analysis:endpoint_clusters        GET  login    403      403      403      403      403      403      ok       403      ok
analysis:clusters_progress        GET  login    403      403      403      403      403      403      ok       403      ok
analysis:trajectory_groups_later  GET  login    403      403      403      403      403      403      moved    403      moved
analysis:uncertainty_later        GET  login    403      403      403      403      403      403      moved    403      moved
analysis:trajectory_groups_figure GET  login    403      403      403      403      403      403      404      403      404
analysis:trajectory_groups_table  GET  login    403      403      403      403      403      403      404      403      404
# Live sessions: "annot" has a place in one; whoever oversees looks on, and managers steer
#                                      stranger nobody   annot    outsider research manager  observer viewer   starter  admin
annotation:session_list           GET  login    ok       ok       ok       ok       ok       ok       ok       ok       ok
annotation:session_new            GET  login    403      403      403      403      403      403      403      ok       ok
annotation:session_new            POST login    403      403      403      403      403      403      403      422      422
annotation:live_study_new         GET  login    403      403      403      403      403      403      403      ok       ok
annotation:live_study_new         POST login    403      403      403      403      403      403      403      422      422
annotation:session_links          POST login    404      403      404      403      404      403      404      404      404
annotation:session_instructions   GET  login    404      ok       404      ok       ok       ok       404      404      ok
annotation:session_instructions   POST login    404      409      404      404      404      404      404      404      404
annotation:study_sessions         GET  login    404      403      404      ok       ok       ok       404      404      ok
annotation:sessions_all           POST login    404      403      404      403      404      403      404      404      404
annotation:session                GET  login    404      ok       404      moved    moved    moved    404      404      moved
annotation:session_state          GET  login    404      ok       404      404      404      404      404      404      404
annotation:session_writing        GET  login    404      ok       404      404      404      404      404      404      404
annotation:session_reply          GET  login    404      moved    404      404      404      404      404      404      404
annotation:session_reply          POST login    404      422      404      404      404      404      404      404      404
annotation:session_draft          POST login    404      422      404      404      404      404      404      404      404
annotation:session_take_back      POST login    404      409      404      404      404      404      404      404      404
annotation:session_ready          POST login    404      moved    404      404      404      404      404      404      404
annotation:session_pause          POST login    404      moved    404      404      moved    404      404      404      moved
annotation:session_resume         POST login    404      moved    404      404      moved    404      404      404      moved
annotation:session_away           POST login    404      ok       404      404      404      404      404      404      404
annotation:session_leave          POST login    404      moved    404      404      404      404      404      404      404
annotation:duel_vote              POST login    404      422      404      404      404      404      404      404      404
annotation:duel_close             POST login    404      409      404      404      404      404      404      404      404
annotation:duel_state             GET  login    404      ok       404      404      404      404      404      404      404
annotation:session_watch          GET  login    404      moved    404      ok       ok       ok       404      404      ok
annotation:session_monitor        GET  login    403      403      403      ok       ok       ok       403      403      ok
annotation:session_control        GET  login    404      404      404      403      ok       403      404      404      ok
annotation:session_control        POST login    404      404      404      403      422      403      404      404      422

# The documentation, the same as in the sources
#                                      stranger nobody   annot    outsider research manager  observer viewer   starter  admin
docs                              GET  ok       ok       ok       ok       ok       ok       ok       ok       ok       ok

# Operating the server
#                                      stranger nobody   annot    outsider research manager  observer viewer   starter  admin
server                            GET  login    403      403      403      403      403      403      403      403      ok
server_job_retry                  POST login    403      403      403      403      403      403      403      403      moved
server_mail_try                   POST login    403      403      403      403      403      403      403      403      422
"""  # noqa: E501
